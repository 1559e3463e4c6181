//! The export of spans and measurements with OTLP over HTTP.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use opentelemetry::trace::TracerProvider;
use opentelemetry::{KeyValue, global};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Runtime;
use toolkit_runtime::Connections;
use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;

use crate::stderr;
use crate::style::WARNING;

/// The timeout of one export.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The time that the end of the process waits for the last export.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// The maximum size of the response of a collector.
const MAX_BYTES: usize = 64 << 10;

/// The providers of spans and measurements. Dropping them exports what remains.
pub(super) struct Providers {
    tracer: SdkTracerProvider,
    meter: SdkMeterProvider,
}

/// Starts the export to the collector in the environment. The variables of OpenTelemetry apply, such as
/// `OTEL_SERVICE_NAME` and `OTEL_TRACES_SAMPLER`.
pub(super) fn start(program: &str) -> Option<Providers> {
    if std::env::var("OTEL_SDK_DISABLED").is_ok_and(|value| value.eq_ignore_ascii_case("true")) {
        return None;
    }
    let spans = SpanExporter::builder().with_http().with_http_client(ExportClient::new()?).build();
    let metrics = MetricExporter::builder().with_http().with_http_client(ExportClient::new()?).build();
    let (spans, metrics) = match (spans, metrics) {
        (Ok(spans), Ok(metrics)) => (spans, metrics),
        (Err(error), _) | (_, Err(error)) => {
            stderr::say(WARNING, &format!("spans and metrics are not exported: {error}"));
            return None;
        }
    };
    let resource = Resource::builder();
    let has_name = std::env::var_os("OTEL_SERVICE_NAME").is_some()
        || std::env::var("OTEL_RESOURCE_ATTRIBUTES").is_ok_and(|attributes| attributes.contains("service.name="));
    let resource =
        if has_name { resource } else { resource.with_attribute(KeyValue::new("service.name", program.to_owned())) };
    let resource = resource.build();
    let tracer = SdkTracerProvider::builder().with_batch_exporter(spans).with_resource(resource.clone()).build();
    let meter = SdkMeterProvider::builder().with_periodic_exporter(metrics).with_resource(resource).build();
    global::set_meter_provider(meter.clone());
    Some(Providers { tracer, meter })
}

impl Providers {
    /// Returns the layer that exports spans of this program and of its tools.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: tracing::Subscriber + for<'s> LookupSpan<'s> + Send + Sync,
    {
        let filter = Targets::new()
            .with_default(Level::INFO)
            .with_targets(["audit", "hyper", "opentelemetry", "rmcp"].map(|target| (target, LevelFilter::OFF)));
        tracing_opentelemetry::layer()
            .with_tracer(self.tracer.tracer("toolkit"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_filter(filter)
    }
}

impl Drop for Providers {
    fn drop(&mut self) {
        let spans = self.tracer.shutdown_with_timeout(SHUTDOWN_TIMEOUT);
        let metrics = self.meter.shutdown_with_timeout(SHUTDOWN_TIMEOUT);
        if let Err(error) = spans.and(metrics) {
            stderr::say(WARNING, &format!("the last spans and metrics were not exported: {error}"));
        }
    }
}

/// The client of a collector, on a runtime of its own: the exporters have threads without one.
struct ExportClient {
    runtime: Runtime,
    connections: Connections,
}

impl ExportClient {
    fn new() -> Option<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime
            .inspect_err(|error| stderr::say(WARNING, &format!("spans and metrics are not exported: {error}")))
            .ok()?;
        Some(Self { runtime, connections: Connections::to_any() })
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let response = self.connections.request(request.map(Full::new)).await?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, MAX_BYTES).collect().await?;
        Ok(Response::from_parts(head, body.to_bytes()))
    }
}

impl HttpClient for ExportClient {
    fn send_bytes<'s, 'f>(
        &'s self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(
            async move { self.runtime.block_on(async { tokio::time::timeout(TIMEOUT, self.send(request)).await? }) },
        )
    }
}

impl fmt::Debug for ExportClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}
