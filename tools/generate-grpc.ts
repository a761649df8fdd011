/**
 * Writes the folders "generated" of the parts that speak gRPC: the codecs of what is in "proto" beside them, with ts-proto
 * (docs/decisions/0002-protobuf-codec.md says why).
 * Usage: bin/node tools/generate-grpc.ts
 */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import process from 'node:process'

const root = join(import.meta.dirname, '..')
const { resolve } = createRequire(import.meta.url)

const options = [
  'importSuffix=.ts',
  'esModuleInterop=true',
  // Nanoseconds since the epoch and byte counts do not fit a number.
  'forceLong=bigint',
  // A TypeScript enum cannot be stripped.
  'enumsAsLiterals=true',
  'unrecognizedEnum=false',
  // Presence of a message is visible, scalars always have a value.
  'useOptionals=messages',
  'useReadonlyTypes=true',
  'useExactTypes=false',
  'useDate=false',
  'outputJsonMethods=false',
  'comments=false',
  'outputServices=generic-definitions',
]

const FOLDERS = [
  'src/protocols/cri',
  'src/protocols/csi',
  'src/protocols/etcd',
  'src/protocols/grpc',
  'src/protocols/tracing',
  'src/node/resource-claims',
  'src/node/devices',
  'src/node/plugins',
  'src/serving/sockets',
]

for (const folder of FOLDERS) {
  rmSync(join(root, folder, 'generated'), { recursive: true, force: true })
  const { status } = spawnSync(
    process.execPath,
    [
      join(dirname(resolve('@bufbuild/buf/package.json')), 'bin/buf'),
      'generate',
      join(root, folder, 'proto'),
      '--template',
      JSON.stringify(toTemplate(join(root, folder, 'generated'))),
    ],
    { stdio: 'inherit' },
  )
  if (status !== 0) process.exitCode = 1
}

function toTemplate(out: string) {
  const plugin = join(dirname(resolve('ts-proto/package.json')), 'protoc-gen-ts_proto')
  return {
    version: 'v2',
    plugins: [{ local: [process.execPath, plugin], out, include_imports: true, include_wkt: true, opt: options }],
  }
}
