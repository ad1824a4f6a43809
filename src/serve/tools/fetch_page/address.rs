//! Restricts the addresses that `fetch_page` may connect to: only those of the public internet.
//!
//! Sources: the IANA special-purpose address registries (RFC 6890 and its updates).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is refused, as in "a loopback address"; `None` if it is public.
pub fn refusal(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => v4_refusal(address),
        IpAddr::V6(address) => v6_refusal(address),
    }
}

fn v4_refusal(address: Ipv4Addr) -> Option<&'static str> {
    match address.octets() {
        [127, ..] => Some("a loopback address"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some("a private address"),
        [169, 254, ..] => Some("a link-local address"),
        [100, 64..=127, ..] => Some("a carrier-grade NAT address"),
        // "This network", protocol assignments, documentation, 6to4 relays, benchmarks.
        [0, ..]
        | [192, 0, 0, _]
        | [192, 0, 2, _]
        | [192, 88, 99, _]
        | [198, 18..=19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _] => Some("a reserved address"),
        [224..=239, ..] => Some("a multicast address"),
        [240..=255, ..] => Some("a reserved address"),
        _ => None,
    }
}

fn v6_refusal(address: Ipv6Addr) -> Option<&'static str> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("a loopback address"),
        [0, 0, 0, 0, 0, 0xffff, ..] => Some("an IPv4-mapped address"),
        [0x64, 0xff9b, ..] => Some("a NAT64 address"),
        [0xfe80..=0xfebf, ..] => Some("a link-local address"),
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] => Some("a private address"),
        [0xff00..=0xffff, ..] => Some("a multicast address"),
        // 6to4 and Teredo addresses contain an IPv4 address.
        [0x2002, ..] | [0x2001, 0, ..] => Some("a tunnel address"),
        // Protocol assignments and documentation.
        [0x2001, 1..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => {
            Some("a reserved address")
        }
        // Only this block is assigned for public addresses.
        [0x2000..=0x3fff, ..] => None,
        _ => Some("a reserved address"),
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
