//! Finds the place that a name refers to, among the places that the geocoding service knows.

use super::us_states::state_name;
use serde_json::{Map, Value, json};
use url::Url;

/// Number of places to request. With fewer, a place that shares its name with many others may not be
/// in the response.
const PLACES_REQUESTED: &str = "20";
/// Maximum number of candidates listed for the model.
const CANDIDATES_MAX: usize = 8;
/// A place with this many times the population of any namesake is chosen.
const DOMINANT_POPULATION: f64 = 10.0;
/// Places closer than this have the same weather.
const SAME_PLACE_DEGREES: f64 = 0.3;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coordinates {
    pub latitude: f64,
    pub longitude: f64,
}

/// A place as the geocoding service describes it, or coordinates alone. Its texts are not sanitized.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub name: Option<String>,
    pub region: Option<String>,
    pub country: Option<String>,
    pub coordinates: Coordinates,
    country_code: Option<String>,
    /// Further areas that the place is in, such as a county.
    areas: Vec<String>,
    population: f64,
    is_populated: bool,
}

impl Place {
    /// Coordinates that the caller passed.
    pub fn unnamed(coordinates: Coordinates) -> Self {
        Self {
            name: None,
            region: None,
            country: None,
            coordinates,
            country_code: None,
            areas: Vec::new(),
            population: 0.0,
            is_populated: true,
        }
    }

    /// Name, region and country, or the coordinates.
    pub fn label(&self) -> String {
        let parts = [&self.name, &self.region, &self.country];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        match parts[..] {
            [] => self.position(),
            _ => parts.join(", "),
        }
    }

    fn position(&self) -> String {
        let Coordinates {
            latitude,
            longitude,
        } = self.coordinates;
        format!("latitude {latitude}, longitude {longitude}")
    }

    pub fn to_json(&self) -> Value {
        let mut place = Map::new();
        let texts = [
            ("name", &self.name),
            ("region", &self.region),
            ("country", &self.country),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                place.insert(key.to_owned(), json!(text));
            }
        }
        place.insert("latitude".to_owned(), json!(self.coordinates.latitude));
        place.insert("longitude".to_owned(), json!(self.coordinates.longitude));
        place.into()
    }

    fn is_in(&self, area: &str) -> bool {
        let area = area.to_lowercase();
        let state = state_name(&area).map(str::to_lowercase);
        let names = [&self.region, &self.country].into_iter().flatten();
        let country_code = self.country_code.as_ref().map(|code| code.to_lowercase());
        country_code.as_ref() == Some(&area)
            || (area == "usa" && country_code.as_deref() == Some("us"))
            || (area == "uk" && country_code.as_deref() == Some("gb"))
            || names.chain(&self.areas).any(|name| {
                let name = name.to_lowercase();
                state.as_ref() == Some(&name) || (area.chars().count() > 2 && name.contains(&area))
            })
    }

    fn is_near(&self, other: &Self) -> bool {
        let distance = |a: f64, b: f64| (a - b).abs();
        let (a, b) = (self.coordinates, other.coordinates);
        distance(a.latitude, b.latitude) < SAME_PLACE_DEGREES
            && distance(a.longitude, b.longitude) < SAME_PLACE_DEGREES
    }
}

/// A name such as `Springfield, Illinois`: the city, and areas that it is in.
#[derive(Debug)]
pub struct PlaceQuery<'a> {
    name: &'a str,
    areas: Vec<&'a str>,
}

impl<'a> PlaceQuery<'a> {
    pub fn parse(text: &'a str) -> Self {
        let mut parts = text.split([',', '，', '、']).map(str::trim);
        let name = parts.next().filter(|name| !name.is_empty()).unwrap_or(text);
        let areas = parts.filter(|area| !area.is_empty()).collect();
        Self { name, areas }
    }

    pub fn url(&self, service: &Url) -> Url {
        let mut url = service.clone();
        url.query_pairs_mut()
            .append_pair("name", self.name)
            .append_pair("count", PLACES_REQUESTED)
            .append_pair("language", "en")
            .append_pair("format", "json");
        url
    }
}

/// The places in a response; `None` if it is not a response from the geocoding service.
pub fn parse_places(document: &Value) -> Option<Vec<Place>> {
    match document.as_object()?.get("results") {
        // The service leaves the list out if it found nothing.
        None | Some(Value::Null) => Some(Vec::new()),
        Some(results) => results.as_array()?.iter().map(parse_place).collect(),
    }
}

fn parse_place(result: &Value) -> Option<Place> {
    let text = |key: &str| {
        let text = result.get(key).and_then(Value::as_str)?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let degrees = |key: &str, max: f64| {
        let degrees = result.get(key).and_then(Value::as_f64)?;
        (degrees.abs() <= max).then_some(degrees)
    };
    let feature = text("feature_code");
    Some(Place {
        name: Some(text("name")?),
        region: text("admin1"),
        country: text("country"),
        coordinates: Coordinates {
            latitude: degrees("latitude", 90.0)?,
            longitude: degrees("longitude", 180.0)?,
        },
        country_code: text("country_code"),
        areas: ["admin2", "admin3", "admin4"]
            .into_iter()
            .filter_map(text)
            .collect(),
        population: result
            .get("population")
            .and_then(Value::as_f64)
            .unwrap_or(0.0),
        is_populated: feature.is_none_or(|code| code.starts_with("PPL")),
    })
}

/// Chooses the place that a query refers to.
///
/// # Errors
/// No place in the areas has the name, or several do: a text that lists those found, so that the
/// model can ask again with coordinates or a more exact name.
pub fn choose_place(query: &PlaceQuery<'_>, found: Vec<Place>) -> Result<Place, String> {
    let Some(first) = found.first() else {
        return Err(not_found(query));
    };
    // The service also finds names in other languages and similar ones; the first is the best.
    let is_named = |place: &Place, name: &str| {
        let own = place.name.as_deref().unwrap_or_default();
        own.to_lowercase() == name.to_lowercase()
    };
    let name = match found.iter().any(|place| is_named(place, query.name)) {
        true => query.name.to_owned(),
        false => first.name.clone().unwrap_or_default(),
    };
    let mut places: Vec<Place> = found
        .into_iter()
        .filter(|place| is_named(place, &name))
        .collect();
    if places.iter().any(|place| place.is_populated) {
        places.retain(|place| place.is_populated);
    }
    let is_meant = |place: &Place| query.areas.iter().all(|area| place.is_in(area));
    if !places.iter().any(is_meant) {
        let areas = query.areas.join(", ");
        return Err(format!(
            "No place called `{name}` was found in `{areas}`. {}",
            list_candidates(&places)
        ));
    }
    places.retain(is_meant);
    places.sort_by(|a, b| b.population.total_cmp(&a.population));
    let largest = places[0].clone();
    let is_dominated = |place: &Place| {
        let is_smaller = largest.population >= place.population.max(1.0) * DOMINANT_POPULATION;
        is_smaller || place.is_near(&largest)
    };
    if places[1..].iter().all(is_dominated) {
        return Ok(largest);
    }
    let count = places.len();
    Err(format!(
        "There are {count} places called `{name}`. {}",
        list_candidates(&places)
    ))
}

fn not_found(query: &PlaceQuery<'_>) -> String {
    let name = query.name;
    format!(
        "No place called `{name}` was found. Check the spelling, use the English name without \
         additions (a region or country goes after a comma: `Springfield, Illinois`), or pass \
         `latitude` and `longitude`."
    )
}

fn list_candidates(places: &[Place]) -> String {
    let candidates = places.iter().take(CANDIDATES_MAX).map(|place| {
        let (label, position) = (place.label(), place.position());
        format!("\n- {label} ({position})")
    });
    let more = match places.len().saturating_sub(CANDIDATES_MAX) {
        0 => String::new(),
        more => format!("\n- and {more} more"),
    };
    format!(
        "Ask the user which one is meant, or call again with its `latitude` and `longitude`, or \
         with its region or country after the name, separated by a comma:{}{more}",
        candidates.collect::<String>()
    )
}

#[cfg(test)]
mod tests;
