//! The request to the weather service, and its answer in words and units.

use super::place::{Coordinates, Place};
use serde_json::{Map, Value, json};
use url::Url;

const CURRENT: &str = "temperature_2m,apparent_temperature,relative_humidity_2m,precipitation,\
    weather_code,wind_speed_10m,wind_direction_10m";
const DAILY: &str = "weather_code,temperature_2m_min,temperature_2m_max,precipitation_sum,\
    precipitation_probability_max";
const DAYS: usize = 3;

pub fn url(service: &Url, coordinates: Coordinates) -> Url {
    let mut url = service.clone();
    url.query_pairs_mut()
        .append_pair("latitude", &coordinates.latitude.to_string())
        .append_pair("longitude", &coordinates.longitude.to_string())
        .append_pair("current", CURRENT)
        .append_pair("daily", DAILY)
        .append_pair("timezone", "auto")
        .append_pair("forecast_days", &DAYS.to_string());
    url
}

/// The schema of [`describe`]'s result.
pub fn output_schema() -> Value {
    let text = json!({ "type": "string" });
    let number = json!({ "type": "number" });
    let nullable_number = json!({ "type": ["number", "null"] });
    json!({
        "type": "object",
        "properties": {
            "place": {
                "type": "object",
                "properties": {
                    "name": text, "region": text, "country": text,
                    "latitude": number, "longitude": number,
                },
                "required": ["latitude", "longitude"],
            },
            "localTime": text,
            "timezone": text,
            "current": {
                "type": "object",
                "properties": {
                    "conditions": text,
                    "temperatureCelsius": number,
                    "feelsLikeCelsius": nullable_number,
                    "humidityPercent": nullable_number,
                    "precipitationMillimeters": nullable_number,
                    "windKilometersPerHour": nullable_number,
                    "windFrom": text,
                },
                "required": ["conditions", "temperatureCelsius"],
            },
            "forecast": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "date": text,
                        "conditions": text,
                        "minCelsius": nullable_number,
                        "maxCelsius": nullable_number,
                        "precipitationMillimeters": nullable_number,
                        "precipitationPercent": nullable_number,
                    },
                    "required": ["date", "conditions"],
                },
            },
            "source": text,
        },
        "required": ["place", "localTime", "timezone", "current", "forecast", "source"],
    })
}

/// The weather at `place`; `None` if the document is not a response from the weather
/// service.
pub fn describe(place: &Place, document: &Value) -> Option<Value> {
    let current = document.get("current")?;
    let number = |key: &str| current.get(key).and_then(Value::as_f64);
    let mut now = Map::new();
    let mut insert = |key: &str, value: Value| now.insert(key.to_owned(), value);
    insert("conditions", json!(conditions(current.get("weather_code"))));
    insert("temperatureCelsius", json!(number("temperature_2m")?));
    insert("feelsLikeCelsius", json!(number("apparent_temperature")));
    insert("humidityPercent", json!(number("relative_humidity_2m")));
    insert("precipitationMillimeters", json!(number("precipitation")));
    insert("windKilometersPerHour", json!(number("wind_speed_10m")));
    if let Some(degrees) = number("wind_direction_10m") {
        insert("windFrom", json!(compass_point(degrees)));
    }
    let zone = document.get("timezone").and_then(Value::as_str);
    Some(json!({
        "place": place.to_json(),
        "localTime": current.get("time")?.as_str()?,
        "timezone": zone.unwrap_or("unknown"),
        "current": now,
        "forecast": days(document),
        "source": "Open-Meteo",
    }))
}

/// Empty if the service sent no forecast.
fn days(document: &Value) -> Vec<Value> {
    let Some(daily) = document.get("daily") else {
        return Vec::new();
    };
    let dates = daily.get("time").and_then(Value::as_array);
    let dates = dates.into_iter().flatten().filter_map(Value::as_str);
    let value = |key: &str, day: usize| daily.get(key).and_then(|list| list.get(day));
    let number = |key: &str, day: usize| json!(value(key, day).and_then(Value::as_f64));
    dates
        .take(DAYS)
        .enumerate()
        .map(|(day, date)| {
            json!({
                "date": date,
                "conditions": conditions(value("weather_code", day)),
                "minCelsius": number("temperature_2m_min", day),
                "maxCelsius": number("temperature_2m_max", day),
                "precipitationMillimeters": number("precipitation_sum", day),
                "precipitationPercent": number("precipitation_probability_max", day),
            })
        })
        .collect()
}

/// A weather code in words (WMO code table 4677, the subset that Open-Meteo uses).
fn conditions(code: Option<&Value>) -> &'static str {
    match code.and_then(Value::as_u64) {
        Some(0) => "clear sky",
        Some(1) => "mainly clear",
        Some(2) => "partly cloudy",
        Some(3) => "overcast",
        Some(45) => "fog",
        Some(48) => "depositing rime fog",
        Some(51) => "light drizzle",
        Some(53) => "moderate drizzle",
        Some(55) => "dense drizzle",
        Some(56) => "light freezing drizzle",
        Some(57) => "dense freezing drizzle",
        Some(61) => "slight rain",
        Some(63) => "moderate rain",
        Some(65) => "heavy rain",
        Some(66) => "light freezing rain",
        Some(67) => "heavy freezing rain",
        Some(71) => "slight snowfall",
        Some(73) => "moderate snowfall",
        Some(75) => "heavy snowfall",
        Some(77) => "snow grains",
        Some(80) => "slight rain showers",
        Some(81) => "moderate rain showers",
        Some(82) => "violent rain showers",
        Some(85) => "slight snow showers",
        Some(86) => "heavy snow showers",
        Some(95) => "thunderstorm",
        Some(96) => "thunderstorm with slight hail",
        Some(99) => "thunderstorm with heavy hail",
        _ => "unknown",
    }
}

fn compass_point(degrees: f64) -> &'static str {
    const POINTS: [&str; 8] = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"];
    let eighth = (degrees.rem_euclid(360.0) / 45.0).round() as usize;
    POINTS[eighth % POINTS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seoul() -> Place {
        Place::unnamed(Coordinates {
            latitude: 37.57,
            longitude: 126.98,
        })
    }

    #[test]
    fn a_forecast_is_described_in_words_and_units() {
        let document = json!({
            "timezone": "Asia/Seoul",
            "current": {
                "time": "2026-11-23T16:00", "temperature_2m": 7.4, "apparent_temperature": 4.1,
                "relative_humidity_2m": 48, "precipitation": 0, "weather_code": 2,
                "wind_speed_10m": 11.2, "wind_direction_10m": 312,
            },
            "daily": {
                "time": ["2026-11-23", "2026-11-24"],
                "weather_code": [3, 61],
                "temperature_2m_min": [1.5, null],
                "temperature_2m_max": [9.1],
                "precipitation_sum": [0, 4.2],
            },
        });
        let expected = json!({
            "place": { "latitude": 37.57, "longitude": 126.98 },
            "localTime": "2026-11-23T16:00",
            "timezone": "Asia/Seoul",
            "current": {
                "conditions": "partly cloudy", "temperatureCelsius": 7.4, "feelsLikeCelsius": 4.1,
                "humidityPercent": 48.0, "precipitationMillimeters": 0.0,
                "windKilometersPerHour": 11.2, "windFrom": "NW",
            },
            "forecast": [
                {
                    "date": "2026-11-23", "conditions": "overcast", "minCelsius": 1.5,
                    "maxCelsius": 9.1, "precipitationMillimeters": 0.0, "precipitationPercent": null,
                },
                {
                    "date": "2026-11-24", "conditions": "slight rain", "minCelsius": null,
                    "maxCelsius": null, "precipitationMillimeters": 4.2, "precipitationPercent": null,
                },
            ],
            "source": "Open-Meteo",
        });
        assert_eq!(describe(&seoul(), &document), Some(expected));
    }

    #[test]
    fn invalid_forecasts_are_recognized() {
        for document in [
            json!([]),
            json!({ "current": {} }),
            json!({ "current": { "time": "t", "temperature_2m": "7" } }),
            json!({ "current": { "temperature_2m": 7 } }),
        ] {
            assert_eq!(describe(&seoul(), &document), None, "{document}");
        }
    }

    #[test]
    fn wind_directions_become_compass_points() {
        let cases = [
            (0.0, "N"),
            (22.0, "N"),
            (23.0, "NE"),
            (180.0, "S"),
            (350.0, "N"),
            (-90.0, "W"),
        ];
        for (degrees, point) in cases {
            assert_eq!(compass_point(degrees), point, "{degrees}");
        }
    }
}
