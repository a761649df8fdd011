/**
 * The folders of src in reading order, and what each may import besides itself. A folder lists only folders above it, so the
 * table has no cycle. The files directly in src (the composition roots) may import everything.
 */
export const layers: Readonly<Record<string, readonly string[]>> = {
  model: [],
  async: [],
  document: [],
  telemetry: ['model', 'async'],
  host: ['async', 'telemetry'],
  config: ['model', 'document', 'host'],
  cri: ['model', 'async', 'telemetry'],
  schema: ['model', 'document'],
  admission: ['model'],
  'api-server': ['model', 'async', 'document', 'telemetry', 'host', 'schema'],
  'http-client': ['model'],
  containers: ['model', 'cri'],
  sources: ['model', 'async', 'telemetry', 'host', 'schema'],
  observe: ['model', 'async', 'telemetry', 'cri'],
  probes: ['model', 'async', 'telemetry', 'http-client', 'cri', 'containers'],
  images: ['model', 'async', 'telemetry', 'host', 'config', 'cri'],
  logs: ['model', 'async', 'telemetry', 'host', 'cri'],
  resources: ['model', 'async', 'telemetry', 'host'],
  status: ['model'],
  pods: [
    'model',
    'async',
    'telemetry',
    'cri',
    'admission',
    'containers',
    'observe',
    'images',
    'logs',
    'resources',
    'status',
    'http-client',
    'probes',
  ],
  server: ['model', 'async', 'telemetry'],
  standalone: ['model', 'async', 'telemetry', 'host', 'config'],
}

/** npm packages and Node modules that belong to some folders alone. */
export const owners: Readonly<Record<string, readonly string[]>> = {
  '@grpc/grpc-js': ['cri'],
  '@bufbuild/protobuf': ['cri'],
  '@bufbuild/protobuf/wire': ['cri'],
  yaml: ['document'],
  'prom-client': ['telemetry'],
  'node:fs': ['host'],
  'node:fs/promises': ['host'],
  'node:child_process': ['host'],
  'node:timers': ['async'],
  'node:timers/promises': ['async'],
  'node:sqlite': ['api-server'],
  'node:http': ['server', 'sources', 'http-client', 'api-server'],
  'node:https': ['server', 'sources', 'http-client'],
}
