import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import { readStorage } from './read-storage.ts'

const { signal } = new AbortController()

test('readStorage() names what it cannot read, and shows the rest', async () => {
  const asked: string[] = []
  const client = {
    send: ({ path, query }: { readonly path: string; readonly query?: Readonly<Record<string, string>> }) => {
      asked.push(`${path} ${query?.['fieldSelector'] ?? ''}`)
      if (path.endsWith('persistentvolumes')) return Promise.reject(new Error('may not'))
      if (path === '/api/v1/nodes/n') return Promise.resolve({ status: { images: [{ names: ['a'], sizeBytes: 3 }] } })
      return Promise.resolve({ metadata: { resourceVersion: '1' }, items: [] })
    },
  } as unknown as KubeClient
  const agent = { images: () => Promise.resolve(undefined) }
  const feed = { summarize: () => Promise.reject(new Error('no answer')) }
  const view = await readStorage({ client, agent, feed, nodeName: 'n', isOneOfMany: true }, signal)
  assert.deepEqual(
    [view.problems.toSorted(), view.images.length, view.reclaimableBytes],
    [['Disks: no answer', 'Volumes: may not'], 1, 3],
  )
  assert.ok(asked.includes('/api/v1/pods spec.nodeName=n'))
})
