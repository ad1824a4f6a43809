//! Restricts the addresses that `fetch_page` may connect to: only those of the public internet.

use crate::domain::HostScope;
use std::net::IpAddr;

/// Why an address is refused, as in "a loopback address"; `None` if it is public.
pub fn refusal(address: IpAddr) -> Option<&'static str> {
    // Public names have no such addresses, whatever is inside.
    if matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some()) {
        return Some("an IPv4-mapped address");
    }
    match HostScope::of_address(address) {
        HostScope::Loopback | HostScope::LikelyLoopback => Some("a loopback address"),
        HostScope::Private => Some("a private address"),
        HostScope::LinkLocal => Some("a link-local address"),
        HostScope::CarrierGradeNat => Some("a carrier-grade NAT address"),
        HostScope::Multicast => Some("a multicast address"),
        HostScope::Unspecified | HostScope::Reserved => Some("a reserved address"),
        HostScope::Nat64(_) => Some("a NAT64 address"),
        HostScope::Tunnel(_) => Some("a tunnel address"),
        HostScope::Public => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(address: &str) -> Option<&'static str> {
        refusal(address.parse().expect(address))
    }

    #[test]
    fn only_public_addresses_are_allowed() {
        let cases = [
            ("a loopback address", "127.0.0.1 127.255.0.9 ::1"),
            (
                "a private address",
                "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.5 fc00::1 fd12::1 fec0::1",
            ),
            ("a link-local address", "169.254.169.254 fe80::1 febf::1"),
            ("a carrier-grade NAT address", "100.64.0.1 100.127.255.255"),
            ("an IPv4-mapped address", "::ffff:127.0.0.1 ::ffff:8.8.8.8"),
            (
                "a NAT64 address",
                "64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::1",
            ),
            ("a multicast address", "224.0.0.1 239.255.255.250 ff02::1"),
            ("a tunnel address", "2002:7f00:1::1 2001::1"),
            (
                "a reserved address",
                "0.0.0.0 0.1.2.3 192.0.0.8 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 240.0.0.1 \
                 255.255.255.255 :: ::7f00:1 100::1 2001:db8::1 2001:2::1 3fff::1 4000::1 5f00::1",
            ),
        ];
        for (kind, addresses) in cases {
            for address in addresses.split_whitespace() {
                assert_eq!(refused(address), Some(kind), "{address}");
            }
        }
        for address in "1.1.1.1 8.8.8.8 100.63.0.1 100.128.0.1 172.15.0.1 172.32.0.1 192.0.1.1 \
             193.0.0.1 2001:4860:4860::8888 2606:4700::1111 2a00:1450::1"
            .split_whitespace()
        {
            assert_eq!(refused(address), None, "{address}");
        }
    }
}
