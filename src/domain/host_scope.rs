//! How far a host is reachable: on this machine, in a local network, or from the whole internet.
//!
//! Sources: the IANA special-purpose address registries (RFC 6890 and its updates), and RFC 6761 for
//! `localhost`.

// Only the address types; `std::net` also has sockets.
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use url::{Host, Url};

/// The part of the network that an address or a host name belongs to. What is permitted there is up
/// to the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostScope {
    /// This machine.
    Loopback,
    /// A name below `localhost`, or `localhost` with too many dots at its end. It should lead to this
    /// machine, but not every resolver knows that, so a name server may decide otherwise.
    LikelyLoopback,
    /// "Any address of this machine", such as `0.0.0.0`, where a server listens. A connection to it
    /// reaches this machine.
    Unspecified,
    /// Private IPv4 (RFC 1918), unique local IPv6 (RFC 4193), and the site-local addresses before it.
    Private,
    /// Cloud providers offer credentials at such addresses.
    LinkLocal,
    /// Shared addresses (RFC 6598), which VPNs such as Tailscale also use.
    CarrierGradeNat,
    Multicast,
    /// Documentation, benchmarks, protocol assignments, and everything unassigned.
    Reserved,
    /// NAT64 (RFC 6052): a gateway of the network forwards to this IPv4 address. `None` with a prefix
    /// of the local network (RFC 8215), which does not show the address.
    Nat64(Option<Ipv4Addr>),
    /// 6to4 (RFC 3056) or Teredo (RFC 4380): the packets are sent to this IPv4 address.
    Tunnel(Ipv4Addr),
    Public,
}

impl HostScope {
    /// The scope of the host of a URL. `None` for a name that only a lookup can place, and without
    /// a host.
    pub fn of_url(url: &Url) -> Option<Self> {
        Self::of_host(&url.host()?)
    }

    /// The scope of a host. `None` for a name that only a lookup can place.
    pub fn of_host<S: AsRef<str>>(host: &Host<S>) -> Option<Self> {
        match host {
            Host::Domain(name) => Self::of_name(name.as_ref()),
            Host::Ipv4(address) => Some(Self::of_ipv4(*address)),
            Host::Ipv6(address) => Some(Self::of_ipv6(*address)),
        }
    }

    /// The scope of an address. An IPv4-mapped address is the IPv4 address, because connections to
    /// it use IPv4.
    pub fn of_address(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_ipv4(address),
            IpAddr::V6(address) => Self::of_ipv6(address),
        }
    }

    /// Whether connections reach this machine, or should, as with a name below `localhost`. Not
    /// enough where a name server must not gain anything, such as permission for unencrypted requests.
    pub fn is_probably_loopback(self) -> bool {
        matches!(
            self,
            Self::Loopback | Self::LikelyLoopback | Self::Unspecified
        )
    }

    /// Where packets end up: for an address of a gateway or tunnel, the scope of the IPv4 address
    /// behind it.
    pub fn destination(self) -> Self {
        match self {
            Self::Nat64(Some(address)) | Self::Tunnel(address) => Self::of_ipv4(address),
            Self::Nat64(None) => Self::Private,
            other => other,
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        const LOCALHOST: &str = "localhost";
        // A dot at the end marks a fully qualified name (RFC 1034, section 3.1).
        let qualified = name.strip_suffix('.').unwrap_or(name);
        if qualified.eq_ignore_ascii_case(LOCALHOST) {
            return Some(Self::Loopback);
        }
        let last_label = name.trim_end_matches('.').rsplit('.').next()?;
        let is_localhost = last_label.eq_ignore_ascii_case(LOCALHOST);
        is_localhost.then_some(Self::LikelyLoopback)
    }

    fn of_ipv4(address: Ipv4Addr) -> Self {
        match address.octets() {
            [127, ..] => Self::Loopback,
            [0, 0, 0, 0] => Self::Unspecified,
            [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Self::Private,
            [169, 254, ..] => Self::LinkLocal,
            [100, 64..=127, ..] => Self::CarrierGradeNat,
            // "This network", protocol assignments, documentation, 6to4 relays, benchmarks.
            [0, ..]
            | [192, 0, 0, _]
            | [192, 0, 2, _]
            | [192, 88, 99, _]
            | [198, 18..=19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _] => Self::Reserved,
            [224..=239, ..] => Self::Multicast,
            [240..=255, ..] => Self::Reserved,
            _ => Self::Public,
        }
    }

    fn of_ipv6(address: Ipv6Addr) -> Self {
        match address.segments() {
            [0, 0, 0, 0, 0, 0, 0, 0] => Self::Unspecified,
            [0, 0, 0, 0, 0, 0, 0, 1] => Self::Loopback,
            [0, 0, 0, 0, 0, 0xffff, high, low] => Self::of_ipv4(joined(high, low)),
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Self::Nat64(Some(joined(high, low))),
            [0x64, 0xff9b, ..] => Self::Nat64(None),
            [0xfe80..=0xfebf, ..] => Self::LinkLocal,
            [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] => Self::Private,
            [0xff00..=0xffff, ..] => Self::Multicast,
            [0x2002, high, low, ..] => Self::Tunnel(joined(high, low)),
            // Teredo contains the inverted address of the client.
            [0x2001, 0, .., high, low] => Self::Tunnel(joined(!high, !low)),
            // Protocol assignments and documentation.
            [0x2001, 1..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => {
                Self::Reserved
            }
            // Only this block is assigned for public addresses.
            [0x2000..=0x3fff, ..] => Self::Public,
            // Among others the IPv4-compatible addresses, such as `::127.0.0.1`, which are no longer
            // used (RFC 4291, section 2.5.5.1).
            _ => Self::Reserved,
        }
    }
}

fn joined(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> HostScope {
        HostScope::of_address(text.parse().expect(text))
    }

    fn host(text: &str) -> Option<HostScope> {
        HostScope::of_url(&Url::parse(&format!("http://{text}/")).expect(text))
    }

    #[test]
    fn addresses_have_the_scope_of_their_block() {
        let cases = [
            (
                HostScope::Loopback,
                "127.0.0.1 127.255.0.9 ::1 ::ffff:127.0.0.1 ::ffff:7f00:1",
            ),
            (HostScope::Unspecified, "0.0.0.0 :: ::ffff:0.0.0.0"),
            (
                HostScope::Private,
                "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.5 ::ffff:10.0.0.1 fc00::1 fdff::1 \
                 fec0::1",
            ),
            (
                HostScope::LinkLocal,
                "169.254.169.254 ::ffff:169.254.169.254 fe80::1 febf::1",
            ),
            (
                HostScope::CarrierGradeNat,
                "100.64.0.1 100.127.255.255 ::ffff:100.64.0.1",
            ),
            (
                HostScope::Multicast,
                "224.0.0.1 239.255.255.250 ff02::1 ffff::1",
            ),
            (
                HostScope::Reserved,
                "0.1.2.3 192.0.0.8 192.0.2.1 192.88.99.1 198.18.0.1 198.19.0.1 198.51.100.1 203.0.113.1 \
                 240.0.0.1 255.255.255.255 ::2 ::7f00:1 ::8.8.8.8 100::1 2001:2::1 2001:1ff::1 \
                 2001:db8::1 3fff::1 4000::1 5f00::1",
            ),
            (
                HostScope::Public,
                "1.1.1.1 8.8.8.8 ::ffff:8.8.8.8 100.63.0.1 100.128.0.1 126.0.0.1 128.0.0.1 172.15.0.1 \
                 172.32.0.1 192.0.1.1 192.169.0.1 198.20.0.1 223.255.255.255 2001:200::1 \
                 2001:4860:4860::8888 2003::1 2606:4700::1111",
            ),
        ];
        for (scope, addresses) in cases {
            for text in addresses.split_whitespace() {
                assert_eq!(address(text), scope, "{text}");
                assert_eq!(address(text).destination(), scope, "{text}");
            }
        }
    }

    #[test]
    fn gateways_and_tunnels_lead_to_the_address_inside() {
        let ipv4 = |text: &str| text.parse::<Ipv4Addr>().expect(text);
        let (here, public) = (ipv4("127.0.0.1"), ipv4("8.8.8.8"));
        for (text, scope, destination) in [
            (
                "64:ff9b::7f00:1",
                HostScope::Nat64(Some(here)),
                HostScope::Loopback,
            ),
            (
                "64:ff9b::8.8.8.8",
                HostScope::Nat64(Some(public)),
                HostScope::Public,
            ),
            ("64:ff9b:1::1", HostScope::Nat64(None), HostScope::Private),
            (
                "2002:7f00:1::8",
                HostScope::Tunnel(here),
                HostScope::Loopback,
            ),
            (
                "2002:808:808::1",
                HostScope::Tunnel(public),
                HostScope::Public,
            ),
            (
                "2001::80ff:fffe",
                HostScope::Tunnel(here),
                HostScope::Loopback,
            ),
            (
                "2001::f7f7:f7f7",
                HostScope::Tunnel(public),
                HostScope::Public,
            ),
        ] {
            assert_eq!(address(text), scope, "{text}");
            assert_eq!(scope.destination(), destination, "{text}");
        }
    }

    #[test]
    fn every_spelling_of_a_host_has_its_scope() {
        let cases = [
            (
                Some(HostScope::Loopback),
                "localhost LOCALHOST Localhost. localhost:80 localhos%74 ｌocalhost localhost。 127.1 \
                 0x7f.1 0177.0.0.1 2130706433 0x7f000001 127.0.0.1. [::1] [0:0::1] [::ffff:7f00:1]",
            ),
            (
                Some(HostScope::LikelyLoopback),
                "a.localhost A.B.LocalHost. localhost.. a.localhost.. .localhost",
            ),
            (Some(HostScope::Unspecified), "0 0.0.0.0 0x0 [::]"),
            (
                Some(HostScope::LinkLocal),
                "0xa9fea9fe 169.254.43518 [fe80::1]",
            ),
            (Some(HostScope::Public), "134744072 8.8.2056 [2606:4700::1]"),
            (
                None,
                "nas studio.local example.com localhost.example.com mylocalhost local.host \
                 127.0.0.1.nip.io",
            ),
        ];
        for (scope, hosts) in cases {
            for text in hosts.split_whitespace() {
                assert_eq!(host(text), scope, "{text}");
            }
        }
        let without_host = Url::parse("mailto:a@localhost").expect("a URL");
        assert_eq!(HostScope::of_url(&without_host), None);
        // Only special schemes normalize the host.
        let other_scheme = Url::parse("x://LocalHost/").expect("a URL");
        assert_eq!(HostScope::of_url(&other_scheme), Some(HostScope::Loopback));
    }
}
