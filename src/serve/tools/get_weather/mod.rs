//! The tool `get_weather`: the weather at a city or at coordinates, from Open-Meteo.

mod forecast;
mod place;
mod us_states;

use super::arguments::{number, reject_unknown, shortened, text};
use super::http_service::{ServiceName, get_json};
use super::tool::{BuiltInTool, ToolDescription, ToolInvocation, definition};
use futures::future::BoxFuture;
use place::{Coordinates, Place, PlaceQuery, choose_place};
use rmcp::model::JsonObject;
use rmcp::model::Tool;
use serde_json::{Value, json};

const NAME: &str = "get_weather";
const CITY_CHARS_MAX: usize = 100;
const GEOCODING: ServiceName = ServiceName {
    subject: "The geocoding service",
    setting: "builtIn.geocodingUrl",
};
const FORECAST: ServiceName = ServiceName {
    subject: "The weather service",
    setting: "builtIn.forecastUrl",
};

pub(super) struct GetWeather;

impl BuiltInTool for GetWeather {
    fn name(&self) -> &'static str {
        NAME
    }

    fn definition(&self) -> Tool {
        let input_schema = json!({
            "type": "object",
            "properties": {
                "city": {
                    "type": "string",
                    "description": "Name of a city, if needed with region or country: `Seoul`, `Springfield, Illinois`",
                },
                "latitude": {
                    "type": "number", "minimum": -90, "maximum": 90,
                    "description": "Degrees north; together with `longitude`, instead of `city`",
                },
                "longitude": {
                    "type": "number", "minimum": -180, "maximum": 180,
                    "description": "Degrees east",
                },
            },
            "additionalProperties": false,
        });
        definition(ToolDescription {
            name: NAME,
            title: "Weather",
            description: "The current weather and the forecast for three days, for a city or for coordinates.",
            input_schema,
            output_schema: forecast::output_schema(),
            is_read_only: true,
            is_idempotent: false,
            is_open_world: true,
        })
    }

    fn call<'a>(&self, call: ToolInvocation<'a>) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(report_weather(call))
    }
}

#[derive(Debug, PartialEq)]
enum Location<'a> {
    City(&'a str),
    Coordinates(Coordinates),
}

async fn report_weather(call: ToolInvocation<'_>) -> Result<Value, String> {
    let (http, settings) = (&call.services.http, &call.settings);
    let place = match parse_location(call.arguments)? {
        Location::Coordinates(coordinates) => Place::unnamed(coordinates),
        Location::City(city) => {
            let message = format!("Looking up {city}");
            call.progress.report(0.0, Some(2.0), &message);
            let query = PlaceQuery::parse(city);
            let url = query.url(&settings.geocoding_url);
            let document = get_json(http, GEOCODING, &url).await?;
            let found = place::parse_places(&document).ok_or_else(|| invalid_answer(GEOCODING))?;
            choose_place(&query, found)?
        }
    };
    let message = format!("Fetching the forecast for {}", place.label());
    call.progress.report(1.0, Some(2.0), &message);
    let url = forecast::url(&settings.forecast_url, place.coordinates);
    let document = get_json(http, FORECAST, &url).await?;
    forecast::describe(&place, &document).ok_or_else(|| invalid_answer(FORECAST))
}

fn invalid_answer(service: ServiceName) -> String {
    let ServiceName { subject, setting } = service;
    format!(
        "{subject} sent an answer without the expected values. Do not make up an answer: tell the \
         user that the service failed. They can check `{setting}` in config.json."
    )
}

fn parse_location(arguments: &JsonObject) -> Result<Location<'_>, String> {
    reject_unknown(arguments, NAME, &["city", "latitude", "longitude"])?;
    let city = text(arguments, "city", "Seoul", CITY_CHARS_MAX)?;
    let latitude = degrees(arguments, "latitude", 90.0)?;
    let longitude = degrees(arguments, "longitude", 180.0)?;
    match (latitude, longitude, city) {
        // Coordinates are more exact than a name.
        (Some(latitude), Some(longitude), _) => Ok(Location::Coordinates(Coordinates {
            latitude,
            longitude,
        })),
        (None, None, Some(city)) => Ok(Location::City(city)),
        (None, None, None) => {
            Err("Pass either `city`, or both `latitude` and `longitude`.".to_owned())
        }
        _ => Err("`latitude` and `longitude` only work together: pass both, or `city`.".to_owned()),
    }
}

fn degrees(arguments: &JsonObject, key: &str, max: f64) -> Result<Option<f64>, String> {
    match arguments.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match number(value) {
            Some(degrees) if degrees.abs() <= max => Ok(Some(degrees)),
            Some(degrees) => Err(format!(
                "`{key}` is {degrees}, but must be between -{max} and {max} degrees. Check whether \
                 latitude and longitude are swapped, or pass `city` instead."
            )),
            None => Err(format!(
                "`{key}` must be a number of degrees such as 37.57, not {}.",
                shortened(value)
            )),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::tool::object;
    use super::*;

    #[test]
    fn a_location_is_a_city_or_a_pair_of_coordinates() {
        let cases = [
            (json!({ "city": " Seoul " }), Ok("City(\"Seoul\")")),
            (
                json!({ "city": "Seoul", "latitude": 1, "longitude": -2.5 }),
                Ok("Coordinates(Coordinates { latitude: 1.0, longitude: -2.5 })"),
            ),
            (json!({}), Err("Pass either")),
            (json!({ "city": "  " }), Err("Pass either")),
            (json!({ "city": 7 }), Err("must be a string")),
            (json!({ "city": "x".repeat(101) }), Err("longer than 100")),
            (json!({ "latitude": 1 }), Err("only work together")),
            (
                json!({ "city": "Seoul", "longitude": 1 }),
                Err("only work together"),
            ),
            (
                json!({ "latitude": 126.98, "longitude": 37.57 }),
                Err("are swapped"),
            ),
            (
                json!({ "latitude": 0, "longitude": -180.01 }),
                Err("between -180 and 180"),
            ),
            (
                json!({ "latitude": "north", "longitude": 0 }),
                Err("must be a number"),
            ),
            (json!({ "town": "Seoul" }), Err("`town`")),
        ];
        for (arguments, expected) in cases {
            let given = arguments.to_string();
            let arguments = object(arguments);
            let location = parse_location(&arguments).map(|location| format!("{location:?}"));
            match (location, expected) {
                (Ok(location), Ok(expected)) => assert_eq!(location, expected),
                (Err(why), Err(part)) => assert!(why.contains(part), "{given}: {why}"),
                (other, _) => panic!("{given}: {other:?}"),
            }
        }
    }
}
