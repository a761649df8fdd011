/**
 * Writes to a store as fast as it can until it is killed. Each line of its journal: what is tried ("try KEY VALUE") before it, and
 * what was acknowledged ("ack KEY VALUE VERSION") after it; VALUE is "-" for a deletion.
 */
import { openSync, writeSync } from 'node:fs'
import process from 'node:process'
import { systemClock } from '../../../src/base/async/clock.ts'
import type { ApiObject } from '../../../src/api-server/store/api-object.ts'
import { openApiStore } from '../../../src/api-server/store/open-api-store.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'

const [folder = '', round = '', journal = ''] = process.argv.slice(2)
// A file and not a pipe: a pipe can be full.
const lines = openSync(journal, 'w')
const WRITERS = 20
const store = await openApiStore(
  { folder, sealedResources: ['secrets'], limits: { historyVersions: 500 } },
  { clock: systemClock, log: silentLogger },
)

function object(name: string, value: string): ApiObject {
  return { apiVersion: 'v1', kind: 'X', metadata: { name }, spec: value, status: 'x'.repeat(500) }
}

async function write(resource: string, name: string, value: string): Promise<void> {
  writeSync(lines, `try ${resource}/${name} ${value}\n`)
  const version = await store.write((transaction) => {
    // Both or neither, and always with the same value.
    for (const half of ['left', 'right']) {
      const key = { resource, namespace: half, name }
      if (value === '-') transaction.remove(key)
      else transaction.put(key, object(name, value))
    }
    return store.version
  })
  writeSync(lines, `ack ${resource}/${name} ${value} ${version}\n`)
}

process.stdout.write('begins\n')
await Promise.all(
  Array.from({ length: WRITERS }, async (_, writer) => {
    const resource = writer % 2 === 0 ? 'configmaps' : 'secrets'
    for (let count = 0; ; count++) await write(resource, `w${writer}`, count % 7 === 6 ? '-' : `${round}.${count}`)
  }),
)
