//! Choosing among several places.

use super::*;

fn place(
    name: &str,
    region: &str,
    country: (&str, &str),
    population: u32,
    at: (f64, f64),
) -> Value {
    json!({
        "name": name, "admin1": region, "country_code": country.0, "country": country.1,
        "population": population, "latitude": at.0, "longitude": at.1, "feature_code": "PPL",
    })
}

const US: (&str, &str) = ("US", "United States");

fn springfields() -> Vec<Value> {
    vec![
        place("Springfield", "Missouri", US, 170_178, (37.21, -93.29)),
        place("Springfield", "Massachusetts", US, 155_929, (42.1, -72.59)),
        place("Springfield", "Illinois", US, 116_565, (39.8, -89.64)),
        place("Springfield Township", "Illinois", US, 5_000, (39.9, -89.7)),
    ]
}

fn choose(query: &str, results: Vec<Value>) -> Result<String, String> {
    let document = json!({ "results": results });
    let places = parse_places(&document).expect("places");
    choose_place(&PlaceQuery::parse(query), places).map(|place| place.label())
}

#[test]
fn cities_with_the_same_name_are_listed_with_region_country_and_coordinates() {
    let why = choose("springfield", springfields()).expect_err("three of similar size");
    assert!(
        why.starts_with("There are 3 places called `springfield`."),
        "{why}"
    );
    let listed = "\n- Springfield, Missouri, United States (latitude 37.21, longitude -93.29)\
                  \n- Springfield, Massachusetts, United States (latitude 42.1, longitude -72.59)\
                  \n- Springfield, Illinois, United States (latitude 39.8, longitude -89.64)";
    assert!(why.ends_with(listed), "{why}");
}

#[test]
fn region_or_country_selects_among_namesakes() {
    let illinois = Ok("Springfield, Illinois, United States".to_owned());
    for query in [
        "Springfield, Illinois",
        "Springfield,IL",
        "Springfield, illinois, USA",
        "Springfield, IL, us",
    ] {
        assert_eq!(choose(query, springfields()), illinois, "{query}");
    }
    let why = choose("Springfield, Ontario", springfields()).expect_err("elsewhere");
    assert!(
        why.contains("in `Ontario`") && why.contains("Missouri"),
        "{why}"
    );
    let why = choose("Springfield, US", springfields()).expect_err("still three");
    assert!(why.contains("3 places"), "{why}");
    let korea = || {
        vec![place(
            "Seoul",
            "Seoul",
            ("KR", "South Korea"),
            10_349_312,
            (37.57, 126.98),
        )]
    };
    for query in ["Seoul", "Seoul, Korea", "seoul, KR", "Seoul, South Korea"] {
        assert_eq!(
            choose(query, korea()),
            Ok("Seoul, Seoul, South Korea".to_owned())
        );
    }
}

#[test]
fn a_city_much_larger_than_its_namesakes_is_chosen() {
    let paris = |texas: u32| {
        vec![
            place("Paris", "Texas", US, texas, (33.66, -95.56)),
            place(
                "Paris",
                "Île-de-France",
                ("FR", "France"),
                2_138_551,
                (48.85, 2.35),
            ),
        ]
    };
    let france = Ok("Paris, Île-de-France, France".to_owned());
    assert_eq!(choose("Paris", paris(24_782)), france);
    assert_eq!(choose("Paris", paris(0)), france);
    assert!(choose("Paris", paris(300_000)).is_err());
    let texas = Ok("Paris, Texas, United States".to_owned());
    assert_eq!(choose("Paris, TX", paris(24_782)), texas);
}

#[test]
fn neighbors_and_places_without_people_are_not_namesakes() {
    let mut airport = place(
        "Incheon",
        "Incheon",
        ("KR", "South Korea"),
        0,
        (34.0, 120.0),
    );
    airport["feature_code"] = json!("AIRP");
    let results = vec![
        place(
            "Incheon",
            "Incheon",
            ("KR", "South Korea"),
            2_629_374,
            (37.45, 126.73),
        ),
        place(
            "Incheon",
            "Gyeonggi",
            ("KR", "South Korea"),
            2_000_000,
            (37.5, 126.7),
        ),
        airport,
    ];
    let incheon = Ok("Incheon, Incheon, South Korea".to_owned());
    assert_eq!(choose("Incheon", results), incheon);
}

#[test]
fn name_in_another_script_finds_the_place() {
    let results = vec![place(
        "Seoul",
        "Seoul",
        ("KR", "South Korea"),
        10_349_312,
        (37.57, 126.98),
    )];
    assert_eq!(
        choose("서울", results),
        Ok("Seoul, Seoul, South Korea".to_owned())
    );
}

#[test]
fn the_error_about_an_unknown_city_names_the_city() {
    for document in [
        json!({}),
        json!({ "results": [] }),
        json!({ "results": null }),
    ] {
        let places = parse_places(&document).expect("an answer");
        let why = choose_place(&PlaceQuery::parse("Atlantiss"), places).expect_err("none");
        assert!(why.contains("No place called `Atlantiss`"), "{why}");
    }
}

#[test]
fn invalid_lists_of_places_are_recognized() {
    for document in [
        json!([]),
        json!("<html>"),
        json!({ "results": {} }),
        json!({ "results": [{}] }),
        json!({ "results": [{ "name": "X", "latitude": 91, "longitude": 0 }] }),
        json!({ "results": [{ "name": "X", "latitude": "1", "longitude": 0 }] }),
    ] {
        assert_eq!(parse_places(&document), None, "{document}");
    }
}

#[test]
fn only_the_first_candidate_places_are_listed() {
    let many = (0..20).map(|index| {
        place(
            "X",
            &format!("Region {index}"),
            US,
            5,
            (f64::from(index), 0.0),
        )
    });
    let why = choose("X", many.collect()).expect_err("twenty");
    assert!(why.ends_with("\n- and 12 more"), "{why}");
}
