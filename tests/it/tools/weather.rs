//! `get_weather`: the choice of the place, and failures of the services.

use super::*;
use humble::domain::ToolProgress;
use std::time::Duration;
use tokio::sync::mpsc;

const SEARCH: &str = "/v1/search";
const FORECAST: &str = "/v1/forecast";

fn place(name: &str, region: &str, country: &str, at: (f64, f64)) -> Value {
    json!({
        "name": name, "admin1": region, "country": country, "country_code": "XX",
        "population": 100_000, "latitude": at.0, "longitude": at.1, "feature_code": "PPL",
    })
}

fn places(results: &[Value]) -> Reply {
    Reply::json(200, &json!({ "results": results }))
}

fn forecast() -> Reply {
    Reply::json(
        200,
        &json!({
            "timezone": "Asia/Seoul",
            "current": { "time": "2026-11-23T16:00", "temperature_2m": 7.4, "weather_code": 0 },
            "daily": { "time": ["2026-11-23"], "weather_code": [61], "temperature_2m_max": [9.1] },
        }),
    )
}

fn service() -> (ModelServer, BuiltInTools) {
    let server = ModelServer::start();
    server
        .always_reply(
            SEARCH,
            places(&[place("Seoul", "Seoul", "South Korea", (37.566, 126.9784))]),
        )
        .always_reply(FORECAST, forecast());
    let tools = tools_at(&server);
    (server, tools)
}

fn seoul() -> Value {
    json!({ "city": "Seoul" })
}

#[tokio::test]
async fn a_city_is_looked_up_and_its_weather_returned() {
    let (server, tools) = service();
    let weather = call(
        &tools,
        "get_weather",
        json!({ "city": "Seoul, South Korea" }),
    )
    .await;
    let weather = weather.expect("the weather");
    let expected = json!({
        "name": "Seoul", "region": "Seoul", "country": "South Korea",
        "latitude": 37.566, "longitude": 126.9784,
    });
    assert_eq!(weather["place"], expected);
    assert_eq!(weather["localTime"], "2026-11-23T16:00");
    assert_eq!(weather["current"]["temperatureCelsius"], 7.4);
    assert_eq!(weather["current"]["conditions"], "clear sky");
    assert_eq!(weather["forecast"][0]["conditions"], "slight rain");
    let requests = server.requests();
    assert_eq!(
        requests[0].query,
        "name=Seoul&count=20&language=en&format=json"
    );
    let query = &requests[1].query;
    assert!(
        query.starts_with("latitude=37.566&longitude=126.9784&current=temperature_2m"),
        "{query}"
    );
    assert!(query.ends_with("&timezone=auto&forecast_days=3"), "{query}");
}

#[tokio::test]
async fn coordinates_need_no_lookup() {
    let (server, tools) = service();
    let arguments = json!({ "latitude": 37.566, "longitude": 126.9784 });
    let weather = call(&tools, "get_weather", arguments.clone())
        .await
        .expect("the weather");
    assert_eq!(weather["place"], arguments);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn errors_about_unknown_and_ambiguous_cities_explain_how_to_ask_again() {
    let (server, tools) = service();
    server.queue_reply(
        SEARCH,
        Reply::json(200, &json!({ "generationtime_ms": 0.5 })),
    );
    let why = failure(&tools, "get_weather", json!({ "city": "Seuol" })).await;
    assert!(why.contains("No place called `Seuol` was found."), "{why}");
    let two = [
        place("Frankfurt", "Hesse", "Germany", (50.11, 8.68)),
        place("Frankfurt", "Brandenburg", "Germany", (52.35, 14.55)),
    ];
    server.queue_reply(SEARCH, places(&two));
    let why = failure(&tools, "get_weather", json!({ "city": "Frankfurt" })).await;
    let listed = "\n- Frankfurt, Hesse, Germany (latitude 50.11, longitude 8.68)\
                  \n- Frankfurt, Brandenburg, Germany (latitude 52.35, longitude 14.55)";
    assert!(
        why.starts_with("There are 2 places called `Frankfurt`.") && why.ends_with(listed),
        "{why}"
    );
    server.queue_reply(SEARCH, places(&two));
    let weather = call(&tools, "get_weather", json!({ "city": "Frankfurt, Hesse" })).await;
    assert_eq!(weather.expect("Hesse")["place"]["latitude"], 50.11);
}

#[tokio::test]
async fn invalid_arguments_of_get_weather_reach_no_service() {
    let (server, tools) = service();
    for (arguments, expected) in [
        (json!({}), "Pass either `city`"),
        (
            json!({ "latitude": 91, "longitude": 0 }),
            "between -90 and 90",
        ),
        (
            json!({ "latitude": 0, "longitude": 1e9 }),
            "between -180 and 180",
        ),
        (json!({ "latitude": 1 }), "only work together"),
    ] {
        let why = failure(&tools, "get_weather", arguments).await;
        assert!(why.contains(expected), "{why}");
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn transient_failures_of_the_weather_service_are_retried() {
    let (server, tools) = service();
    server
        .queue_reply(FORECAST, Reply::status(503).header("retry-after", "0"))
        .queue_reply(
            FORECAST,
            Reply::status(200).chunk("{\"current\":").disconnect(),
        );
    let weather = call(&tools, "get_weather", seoul())
        .await
        .expect("the third attempt works");
    assert_eq!(weather["current"]["temperatureCelsius"], 7.4);
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn the_error_of_a_failing_service_names_it_and_warns_against_guessing() {
    let (server, tools) = service();
    server.always_reply(FORECAST, Reply::status(500).header("retry-after", "0"));
    let why = failure(&tools, "get_weather", seoul()).await;
    let expected = "The weather service (127.0.0.1) answered with HTTP 500. It was asked 3 times. \
        Do not make up an answer: tell the user that the service failed. They can try again later, \
        or check their network and `builtIn.forecastUrl` in config.json.";
    assert_eq!(why, expected);
    let reason = json!({ "error": true, "reason": "Latitude must be in range." });
    for (reply, expected) in [
        (
            Reply::json(400, &reason),
            "HTTP 400: Latitude must be in range.",
        ),
        (
            Reply::json(429, &json!({})).header("retry-after", "3600"),
            "too many requests (HTTP 429).",
        ),
        (
            Reply::status(200).chunk("<html>Welcome to our Wi-Fi"),
            "something that is not JSON",
        ),
        (
            Reply::json(200, &json!({ "current": {} })),
            "without the expected values",
        ),
        (Reply::json(200, &json!([])), "without the expected values"),
    ] {
        server.queue_reply(FORECAST, reply);
        let why = failure(&tools, "get_weather", seoul()).await;
        assert!(
            why.contains(expected) && !why.contains("It was asked"),
            "{expected}: {why}"
        );
    }
    server.queue_reply(SEARCH, Reply::json(200, &json!({ "results": "none" })));
    let why = failure(&tools, "get_weather", seoul()).await;
    assert!(
        why.contains("The geocoding service") && why.contains("`builtIn.geocodingUrl`"),
        "{why}"
    );
}

#[tokio::test]
async fn a_service_that_is_down_is_reported_as_unreachable() {
    let (server, tools) = service();
    drop(server);
    let why = failure(&tools, "get_weather", seoul()).await;
    assert!(
        why.contains("cannot be reached: the connection was refused. It was asked 3 times."),
        "{why}"
    );
}

#[tokio::test]
async fn a_silent_weather_service_times_out() {
    let (server, tools) = service();
    server.always_reply(FORECAST, Reply::status(200).chunk("{").hang());
    let work = tokio::spawn(async move { failure(&tools, "get_weather", seoul()).await });
    server.wait_for(|log| log.requests.len() == 2).await;
    // From here on, waiting takes no time.
    tokio::time::pause();
    let why = work.await.expect("the task ends");
    assert!(
        why.contains("The weather service") && why.contains("It was asked 3 times."),
        "{why}"
    );
}

#[tokio::test]
async fn cancelling_drops_the_request() {
    let (server, tools) = service();
    server.always_reply(FORECAST, Reply::status(200).chunk("{").hang());
    let cancelled = CancellationToken::new();
    let token = cancelled.clone();
    let work = tokio::spawn(async move {
        let progress = ProgressReporter::ignored();
        tools
            .call("get_weather", &object(seoul()), progress, token)
            .await
    });
    server.wait_for(|log| log.requests.len() == 2).await;
    cancelled.cancel();
    assert_eq!(
        work.await.expect("the task ends"),
        Err(ToolFailure::Cancelled)
    );
    server.wait_for(|log| log.aborted_replies == 1).await;
}

#[tokio::test]
async fn progress_of_get_weather_names_the_place() {
    let (_server, tools) = service();
    let (sender, mut reports) = mpsc::channel(10);
    let (progress, cancelled) = (ProgressReporter::new(sender), CancellationToken::new());
    let arguments = object(seoul());
    let result = tools
        .call("get_weather", &arguments, progress, cancelled)
        .await;
    assert!(result.is_ok(), "{result:?}");
    let mut messages = Vec::new();
    while let Ok(report) = tokio::time::timeout(Duration::from_secs(5), reports.recv()).await {
        let Some(report) = report else { break };
        messages.push(report);
    }
    let expected = [
        ToolProgress::new(0.0, Some(2.0), Some("Looking up Seoul")),
        ToolProgress::new(
            1.0,
            Some(2.0),
            Some("Fetching the forecast for Seoul, Seoul, South Korea"),
        ),
    ];
    assert_eq!(messages, expected);
}
