import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { describe, test } from 'node:test'
import { collectGarbage } from '../../../src/system/processes/collect-garbage.ts'
import { createTestApi } from './create-test-api.ts'

const PODS = 1000
const WATCHERS = 50
const AT_ONCE = 20
const NEWLINE = 0x0a
const PODS_PATH = '/api/v1/namespaces/default/pods'

function pod(index: number): object {
  const container = { name: 'c', image: 'registry.example/app:1', env: [{ name: 'A', value: 'x'.repeat(200) }] }
  return { metadata: { name: `pod-${index}`, labels: { app: `app-${index % 10}` } }, spec: { containers: [container] } }
}

async function send(url: string, method: string, body: object, type = 'application/json'): Promise<void> {
  const answer = await fetch(url, { method, body: JSON.stringify(body), headers: { 'content-type': type } })
  const text = await answer.text()
  assert.ok(answer.ok, `${answer.status} ${text}`)
}

async function inParallel(count: number, work: (index: number) => Promise<void>): Promise<number> {
  const started = performance.now()
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return performance.now() - started
}

/** Reads a watch until it has reported so many changes. */
async function readWatch(url: string, events: number): Promise<void> {
  const request = get(url, { agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let seen = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) seen++
    if (seen >= events) break
  }
  request.destroy()
  assert.equal(seen, events)
}

describe('load', () => {
  test(`${PODS} pods and ${WATCHERS} watchers over HTTP`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-load-'))
    t.after(() => rmSync(folder, { recursive: true }))
    await using server = await createTestApi({ folder })
    collectGarbage()
    const heapBefore = process.memoryUsage().heapUsed
    const { url } = server
    // Half of them see everything, the others one label.
    const watchers = Array.from({ length: WATCHERS }, (_, index) => {
      const selector = index % 2 === 0 ? '' : `&labelSelector=app%3Dapp-${index % 10}`
      return readWatch(`${url}${PODS_PATH}?watch=1${selector}`, (PODS * 3) / (index % 2 === 0 ? 1 : 10))
    })
    const watching = Promise.all(watchers)
    // What fails first is what the test reports.
    watching.catch(() => {})
    const status = { status: { phase: 'Running', podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] } }
    const created = await inParallel(PODS, (index) => send(`${url}${PODS_PATH}`, 'POST', pod(index)))
    const patched = await inParallel(PODS, (index) =>
      send(`${url}${PODS_PATH}/pod-${index}/status`, 'PATCH', status, 'application/strategic-merge-patch+json'),
    )
    const started = performance.now()
    const list = (await (await fetch(`${url}/api/v1/pods`)).json()) as { items: unknown[] }
    const listed = performance.now() - started
    assert.equal(list.items.length, PODS)
    const deleted = await inParallel(PODS, (index) =>
      send(`${url}${PODS_PATH}/pod-${index}`, 'DELETE', { gracePeriodSeconds: 0 }),
    )
    await watching
    collectGarbage()
    const heap = process.memoryUsage().heapUsed - heapBefore
    const rate = (ms: number) => `${Math.round((PODS / ms) * 1000)}/s`
    t.diagnostic(
      `created ${rate(created)}, status ${rate(patched)}, deleted ${rate(deleted)}, list of all ${Math.round(listed)} ms, heap after ${Math.round(heap / 1e6)} MB`,
    )
    assert.ok(heap < 50e6, `${heap} bytes are still held`)
  })
})
