import { isIP } from 'node:net'
import type { Json } from '../files/json-value.ts'
import { listOf, object, optionalObject, textList } from '../kinds/collection-kinds.ts'
import { bool, choice, duration, int32, ipAddress, path, text } from '../kinds/scalar-kinds.ts'
import { TLS_CIPHER_SUITES, TLS_GROUPS } from '../values/tls-names.ts'

function findGroupProblem(value: number, list: readonly number[]): string | undefined {
  if (list.indexOf(value) !== list.lastIndexOf(value)) return 'expected each number once'
  return Object.hasOwn(TLS_GROUPS, value) ? undefined : `expected one of ${Object.keys(TLS_GROUPS).join(', ')}`
}

const group = { type: 'int32s', expected: 'expected a whole number from 1 to 65535' }
const readGroup = (raw: Json) =>
  typeof raw === 'number' && Number.isInteger(raw) && raw >= 1 && raw <= 65_535 ? raw : undefined

const authentication = object(
  {
    x509: object(
      {
        clientCAFile: path({
          default: '',
          flag: 'client-ca-file',
          about: 'CA bundle that client certificates are checked against',
        }),
      },
      { about: 'client certificates' },
    ),
    webhook: object(
      {
        enabled: bool({
          default: undefined,
          keepsZero: true,
          flag: 'authentication-token-webhook',
          about: 'ask the API server about bearer tokens',
        }),
        cacheTTL: duration({
          default: '2m',
          flag: 'authentication-token-webhook-cache-ttl',
          about: 'how long its answers hold',
        }),
      },
      { about: 'bearer tokens' },
    ),
    anonymous: object(
      {
        enabled: bool({
          default: false,
          keepsZero: true,
          flag: 'anonymous-auth',
          about: 'let in requests without credentials',
        }),
      },
      { about: 'requests without credentials' },
    ),
  },
  { about: 'who is asking' },
)

const authorization = object(
  {
    mode: choice(['AlwaysAllow', 'Webhook'], {
      default: undefined,
      flag: 'authorization-mode',
      about: 'AlwaysAllow, or Webhook to ask the API server',
    }),
    webhook: object(
      {
        cacheAuthorizedTTL: duration({
          default: '5m',
          flag: 'authorization-webhook-cache-authorized-ttl',
          about: 'how long a yes of the API server holds',
        }),
        cacheUnauthorizedTTL: duration({
          default: '30s',
          flag: 'authorization-webhook-cache-unauthorized-ttl',
          about: 'how long a no of the API server holds',
        }),
      },
      { about: 'questions to the API server' },
    ),
  },
  { about: 'who may do what' },
)

const tracing = optionalObject(
  {
    endpoint: text({
      default: 'localhost:4317',
      keepsZero: true,
      about: 'OTLP collector',
      rule: (value) => {
        const scheme = /^([a-z][a-z0-9+.-]*):(?!\d+$)/i.exec(value)?.[1]
        const known = scheme === undefined || ['dns', 'unix', 'unix-abstract'].includes(scheme.toLowerCase())
        return known ? undefined : 'expected host:port, or a dns:, unix: or unix-abstract: address'
      },
    }),
    samplingRatePerMillion: int32({
      default: 0,
      keepsZero: true,
      min: 0,
      max: 1_000_000,
      about: 'traces kept of a million',
    }),
  },
  { about: 'export of traces' },
)

/** What we serve, and to whom. */
export const servingFields = {
  enableServer: bool({ default: true, keepsZero: true, flag: 'enable-server', about: "serve the node's API" }),
  address: ipAddress({
    default: '0.0.0.0',
    flag: 'address',
    about: 'address to serve on',
    rule: (value) => (isIP(value) === 0 ? 'expected an IP address' : undefined),
  }),
  port: int32({ default: 10_250, min: 1, max: 65_535, flag: 'port', about: 'port of the API' }),
  readOnlyPort: int32({
    default: 0,
    min: 0,
    max: 65_535,
    flag: 'read-only-port',
    about: 'port without authentication; 0 is off',
  }),
  healthzPort: int32({
    default: 10_248,
    keepsZero: true,
    min: 0,
    max: 65_535,
    flag: 'healthz-port',
    about: 'port of /healthz; 0 is off',
  }),
  healthzBindAddress: ipAddress({ default: '127.0.0.1', flag: 'healthz-bind-address', about: 'address of /healthz' }),
  authentication,
  authorization,
  tlsCertFile: path({ default: '', flag: 'tls-cert-file', about: 'certificate to serve with, and its chain' }),
  tlsPrivateKeyFile: path({ default: '', flag: 'tls-private-key-file', about: 'private key to serve with' }),
  tlsCipherSuites: textList({
    default: [],
    flag: 'tls-cipher-suites',
    about: 'cipher suites for TLS 1.2 and older',
    item: (name) =>
      Object.hasOwn(TLS_CIPHER_SUITES, name)
        ? undefined
        : `expected one of ${Object.keys(TLS_CIPHER_SUITES).join(', ')}`,
  }),
  tlsCurvePreferences: listOf(
    { ...group, read: readGroup },
    { default: [], about: 'numbers of the key exchange groups', item: findGroupProblem },
  ),
  tlsMinVersion: choice(['', 'VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'], {
    default: '',
    flag: 'tls-min-version',
    about: 'oldest version of TLS; VersionTLS12 when empty',
  }),
  serverTLSBootstrap: bool({
    default: false,
    flag: 'rotate-server-certificates',
    about: 'ask the cluster for the serving certificate',
  }),
  enableDebuggingHandlers: bool({
    default: true,
    keepsZero: true,
    flag: 'enable-debugging-handlers',
    about: 'serve logs, exec and the like',
  }),
  enableContentionProfiling: bool({ default: false, flag: 'contention-profiling', about: 'profile waiting for locks' }),
  enableProfilingHandler: bool({ default: true, keepsZero: true, about: 'serve /debug/pprof/' }),
  enableDebugFlagsHandler: bool({ default: true, keepsZero: true, about: 'serve /debug/flags/v' }),
  enableSystemLogHandler: bool({ default: true, keepsZero: true, about: "serve the machine's logs" }),
  enableSystemLogQuery: bool({ default: false, keepsZero: true, about: "allow queries of the machine's logs" }),
  streamingConnectionIdleTimeout: duration({
    default: '4h',
    flag: 'streaming-connection-idle-timeout',
    about: 'end exec, attach and port-forward after so long without a byte',
  }),
  showHiddenMetricsForVersion: text({ default: '', about: 'show metrics that were hidden since this release' }),
  tracing,
}
