import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** One request to the API server. */
interface ClientRequest {
  /** The host and port of the server. */
  readonly host: string
  readonly method: string
  /** What clients call it: GET, LIST, WATCH, POST … */
  readonly verb: string
  /** The status of the answer, or "<error>". */
  readonly code: string
  readonly seconds: number
}

interface ClientSizes {
  readonly requestBytes: number
  readonly responseBytes: number
}

/** What is counted of requests to the API server, and of certificates. */
export interface ClientMetrics {
  clientRequest(request: ClientRequest): void
  clientRetry(retry: Pick<ClientRequest, 'host' | 'verb' | 'code'>): void
  /** A request waited for its turn. */
  clientWait(wait: Pick<ClientRequest, 'host' | 'verb' | 'seconds'>): void
  /** How much went to the API server and came back. */
  clientSize(exchange: Pick<ClientRequest, 'host' | 'verb'> & ClientSizes): void
  /** A program that gives credentials has ended. */
  execPluginCall(call: { readonly status: string; readonly code: number }): void
  /** Such a program gave a certificate that is good until then, in the place of one that was so old. */
  execPluginCertificate(given: { readonly expiresAt: number; readonly replacedAgeSeconds: number | undefined }): void
  /** The name of a host was looked up. */
  hostResolved(lookup: { readonly host: string; readonly seconds: number }): void
  /** The API knows the newest status of a pod, so long after that became another. */
  podStatusReported(seconds: number): void
  /** A new serving certificate took the place of one that was so old. */
  serverCertificateRotated(ageSeconds: number): void
  certificateRenewalFailed(kind: 'client' | 'server'): void
}

const DURATIONS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60]
const LOOKUPS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30]
const SIZES = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216]
const REPORTED_AFTER = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60]
const PLUGIN_AGES = [
  600, 1800, 3600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000,
]
const AGES = [60, 3600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000]

export function createClientMetrics(set: MetricSet, now: () => number): ClientMetrics {
  return {
    ...createRestMetrics(set),
    ...createSizeMetrics(set),
    ...createPluginMetrics(set, now),
    ...createRenewalMetrics(set),
  }
}

function createPluginMetrics(
  set: MetricSet,
  now: () => number,
): Pick<ClientMetrics, 'execPluginCall' | 'execPluginCertificate'> {
  const calls = set.counter({
    name: 'rest_client_exec_plugin_call_total',
    help: 'Runs of the program that gives credentials, by how they ended.',
    labels: ['call_status', 'code'],
  })
  const ages = set.histogram({
    name: 'rest_client_exec_plugin_certificate_rotation_age',
    help: 'How old a certificate of the program that gives credentials was when another took its place, in seconds.',
    buckets: PLUGIN_AGES,
  })
  let end = Infinity
  set.readOne(
    {
      name: 'rest_client_exec_plugin_ttl_seconds',
      help: 'How long the certificate of the program that gives credentials is good; without end when it gives none.',
    },
    () => (end - now()) / 1000,
  )
  return {
    execPluginCall: ({ status, code }) => calls.inc({ call_status: status, code: String(code) }),
    execPluginCertificate({ expiresAt, replacedAgeSeconds }) {
      end = expiresAt
      if (replacedAgeSeconds !== undefined) ages.observe(replacedAgeSeconds)
    },
  }
}

function createRestMetrics(set: MetricSet): Pick<ClientMetrics, 'clientRequest' | 'clientRetry' | 'clientWait'> {
  const labels = ['host', 'verb'] as const
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    set.histogram({ name: `rest_client_${name}`, help, labels, buckets })
  const total = set.counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server by answer.',
    labels: ['code', 'host', 'method'],
  })
  const retries = set.counter({
    name: 'rest_client_request_retries_total',
    help: 'Requests to the API server that were sent again.',
    labels: ['code', 'host', 'verb'],
  })
  const durations = histogram('request_duration_seconds', 'How long requests to the API server take.', DURATIONS)
  const waits = histogram('rate_limiter_duration_seconds', 'How long requests wait for their turn.', DURATIONS)
  return {
    clientRequest({ host, method, verb, code, seconds }) {
      total.inc({ host, method, code })
      durations.observe({ host, verb }, seconds)
    },
    clientRetry: ({ host, verb, code }) => retries.inc({ host, verb, code }),
    clientWait: ({ host, verb, seconds }) => waits.observe({ host, verb }, seconds),
  }
}

function createSizeMetrics(set: MetricSet): Pick<ClientMetrics, 'clientSize' | 'hostResolved' | 'podStatusReported'> {
  const size = (name: string, help: string) =>
    set.histogram({ name: `rest_client_${name}_size_bytes`, help, labels: ['host', 'verb'], buckets: SIZES })
  const requests = size('request', 'How large requests to the API server are.')
  const answers = size('response', 'How large its answers are.')
  const lookups = set.histogram({
    name: 'rest_client_dns_resolution_duration_seconds',
    help: 'How long it takes to look up the address of the API server.',
    labels: ['host'],
    buckets: LOOKUPS,
  })
  const reported = set.histogram({
    name: 'kubelet_pod_status_sync_duration_seconds',
    help: 'From the change of the status of a pod until the API knows it.',
    buckets: REPORTED_AFTER,
  })
  return {
    clientSize({ host, verb, requestBytes, responseBytes }) {
      requests.observe({ host, verb }, requestBytes)
      answers.observe({ host, verb }, responseBytes)
    },
    hostResolved: ({ host, seconds }) => lookups.observe({ host }, seconds),
    podStatusReported: (seconds) => reported.observe(seconds),
  }
}

function createRenewalMetrics(
  set: MetricSet,
): Pick<ClientMetrics, 'serverCertificateRotated' | 'certificateRenewalFailed'> {
  const ages = set.histogram({
    name: 'kubelet_certificate_manager_server_rotation_seconds',
    help: 'How old a serving certificate was when another took its place.',
    buckets: AGES,
  })
  const failures = {
    client: set.counter({
      name: 'kubelet_certificate_manager_client_expiration_renew_errors',
      help: 'Renewals of the client certificate that failed.',
    }),
    server: set.counter({
      name: 'kubelet_server_expiration_renew_errors',
      help: 'Renewals of the serving certificate that failed.',
    }),
  }
  return {
    serverCertificateRotated: (ageSeconds) => ages.observe(ageSeconds),
    certificateRenewalFailed: (kind) => failures[kind].inc(),
  }
}

/** What is counted of traces. */
export interface TracingMetrics {
  spansExported(count: number): void
  /** They were not taken: the collector was away, or slower than they came. */
  spansDropped(count: number): void
}

export function createTracingMetrics(set: MetricSet): TracingMetrics {
  const exported = set.counter({ name: 'deckhand_spans_exported_total', help: 'Spans that the collector took.' })
  const dropped = set.counter({ name: 'deckhand_spans_dropped_total', help: 'Spans that no collector took.' })
  return { spansExported: (count) => exported.inc(count), spansDropped: (count) => dropped.inc(count) }
}
