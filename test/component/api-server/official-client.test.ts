import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import type { V1ConfigMap } from '@kubernetes/client-node'
import { followConfigMaps } from './official-informer.ts'
import { createFolder, startApiServer } from './start-secured-api.ts'

const namespace = 'default'
const NAMES = 15
const CHANGES = 40
const RUNS = 3

async function change(core: CoreV1Api, present: Set<string>, count: number): Promise<void> {
  const name = `c${(count * 7) % NAMES}`
  const body = { metadata: { name }, data: { count: String(count) } }
  if (!present.has(name)) await core.createNamespacedConfigMap({ namespace, body })
  else if (count % 5 === 0) await core.deleteNamespacedConfigMap({ namespace, name })
  else await core.replaceNamespacedConfigMap({ namespace, name, body })
  if (present.has(name) && count % 5 === 0) present.delete(name)
  else present.add(name)
}

function contentOf(maps: readonly V1ConfigMap[]): readonly string[] {
  return maps
    .map(({ metadata, data }) => `${metadata?.name} ${metadata?.resourceVersion} ${data?.['count']}`)
    .toSorted()
}

describe('the official JavaScript client', () => {
  test('stays consistent through changes and restarts of the server', async (t) => {
    const folder = createFolder(t)
    let api = await startApiServer(folder)
    t.after(() => api.stop())
    const port = Number(new URL(api.server).port)
    const config = new KubeConfig()
    config.loadFromFile(join(folder, 'admin.kubeconfig'))
    const core = config.makeApiClient(CoreV1Api)
    const follower = followConfigMaps(config, namespace)
    t.after(() => follower.stop())
    await follower.informer.start()
    const present = new Set<string>()
    for (let run = 0; run < RUNS; run++) {
      if (run > 0) {
        await api.stop()
        api = await startApiServer(folder, port)
      }
      for (let count = 0; count < CHANGES; count++) await change(core, present, run * CHANGES + count)
      const { items } = await core.listNamespacedConfigMap({ namespace })
      // The test's own time limit ends a wait in vain.
      while (contentOf(follower.informer.list()).join() !== contentOf(items).join()) await sleep(10)
      assert.ok(items.length > present.size, 'the certificate of the authority is one of them')
    }
    assert.ok(follower.lost.length > 0, 'it never lost its server')
  })

  test('gets errors as a Status', async (t) => {
    const folder = createFolder(t)
    const api = await startApiServer(folder)
    t.after(() => api.stop())
    const config = new KubeConfig()
    config.loadFromFile(join(folder, 'admin.kubeconfig'))
    const core = config.makeApiClient(CoreV1Api)
    await assert.rejects(core.readNamespacedPod({ namespace, name: 'nothing' }), { code: 404 })
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    const pod = await core.createNamespacedPod({ namespace, body: { metadata: { generateName: 'p-' }, spec } })
    assert.equal(pod.spec?.nodeName, 'node-1')
    assert.ok(pod.metadata?.creationTimestamp instanceof Date)
  })
})
