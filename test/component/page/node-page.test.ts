import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../../src/base/async/clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import type { PageMessage } from '../../../src/page/messages/page-message.ts'
import { NodeError } from '../../../src/standalone/node/node-error.ts'
import { runNodePage } from '../../../src/standalone/page-of-node.ts'
import { startFakeKubelet } from '../api-server/fake-kubelet.ts'
import { startApiServer } from '../api-server/start-secured-api.ts'
import type { SecuredApi } from '../api-server/start-secured-api.ts'

let folder = ''
let api: SecuredApi
let port = 0
let answers: Readonly<Record<string, object>> = {}
const cleanUp: (() => void | Promise<void>)[] = []
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-node-page-'))
  api = await startApiServer(folder)
  const kubelet = await startFakeKubelet({ after: (work: () => void) => void cleanUp.push(work) }, folder, answer)
  ;({ port } = kubelet)
  await addNode('node-1')
  const spec = (nodeName: string) => ({ containers: [{ name: 'main', image: 'a' }], nodeName })
  for (const [name, node] of [
    ['mine', 'node-1'],
    ['other', 'node-2'],
  ] as const)
    await post('/api/v1/namespaces/default/pods', { metadata: { name }, spec: spec(node) })
  for (const [name, pod] of [
    ['e1', 'mine'],
    ['e2', 'other'],
  ] as const)
    await post('/api/v1/namespaces/default/events', {
      metadata: { name },
      involvedObject: { kind: 'Pod', name: pod, namespace: 'default' },
      reason: 'Tested',
    })
})
after(async () => {
  for (const work of cleanUp) await work()
  await api.stop()
  rmSync(folder, { recursive: true })
})

async function post(path: string, body: object): Promise<void> {
  const { status, body: answered } = await api.call(api.admin, 'POST', path, body)
  assert.equal(status, 201, JSON.stringify(answered))
}

async function addNode(name: string): Promise<void> {
  await post('/api/v1/nodes', { metadata: { name } })
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  }
  const merge = { ...api.admin, headers: { 'content-type': 'application/merge-patch+json' } }
  assert.equal((await api.call(merge, 'PATCH', `/api/v1/nodes/${name}/status`, { status })).status, 200)
}

function answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const found = answers[url.replace(/\?.*/, '')]
  response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' })
  response.end(found === undefined ? '404 page not found\n' : JSON.stringify(found))
}

/** The page as the command serves it; resolves to what it said when it listens. */
async function serve(
  t: TestContext,
  options: { readonly kubeconfig?: string; readonly node?: string; readonly kubelet?: URL } = {},
) {
  const stop = new AbortController()
  const said: string[] = []
  const listening = Promise.withResolvers<string>()
  const running = runNodePage(
    {
      clock: systemClock,
      say: (line) => {
        said.push(line)
        if (said.length === 2) listening.resolve(said[0] ?? '')
      },
      random: Math.random,
      assets: '/nowhere',
      version: '0',
      log: silentLogger,
    },
    { kubeconfig: join(folder, 'admin.kubeconfig'), node: undefined, kubelet: undefined, port: 0, ...options },
    stop.signal,
  )
  running.catch(listening.reject)
  t.after(async () => {
    stop.abort(new Error('The test ends'))
    await running.catch(() => {})
  })
  const link = await listening.promise
  const { origin } = new URL(link)
  const { headers } = await fetch(link, { redirect: 'manual' })
  const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';')
  const key = await fetch(`${origin}/session`, { method: 'POST', headers: { cookie, origin } })
  const session = { cookie, 'x-deckhand-key': ((await key.json()) as { readonly key: string }).key }
  const get = (path: string) => fetch(`${origin}${path}`, { headers: session })
  const post = (path: string, method: string, body?: object) =>
    fetch(`${origin}${path}`, {
      method,
      headers: { ...session, origin, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  return { said, get, post }
}

async function follow(
  get: (path: string) => Promise<Response>,
  isLast: (seen: readonly PageMessage[]) => boolean,
): Promise<readonly PageMessage[]> {
  const { body } = await get('/live')
  const seen: PageMessage[] = []
  let rest = ''
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    const lines = (rest + Buffer.from(chunk).toString('utf8')).split('\n')
    rest = lines.pop() ?? ''
    seen.push(...lines.map((line) => JSON.parse(line) as PageMessage))
    if (isLast(seen)) return seen
  }
  throw new Error('The stream ended')
}

const has = (seen: readonly PageMessage[], kind: PageMessage['kind']) => seen.some((message) => message.kind === kind)

describe('deckhand page --kubeconfig', () => {
  test('serves the page of the only node: its pods and events alone, what its kubelet says over the API', async (t) => {
    answers = {
      '/why': { pods: [{ uid: 'u', why: 'Runs' }], manifests: [] },
      '/stats/summary': { node: { cpu: { usageNanoCores: 5e8 } }, pods: [] },
      '/stats/history': { times: [5, 6], node: { cpuCores: [0.25, 0.5] }, pods: {} },
      '/why/images': { images: [] },
    }
    const { get, said } = await serve(t)
    assert.match(said[0] ?? '', /^http:\/\/127\.0\.0\.1:\d+\/sign-in\?token=/)
    assert.match(said[1] ?? '', /^The page of node "node-1" is served/)
    const seen = await follow(get, (all) => has(all, 'sample') && has(all, 'events') && has(all, 'why'))
    const names = seen.findLast(({ kind }) => kind === 'pods')
    assert.deepEqual(names?.kind === 'pods' && names.rows.map(({ name }) => name), ['mine'])
    const events = seen.findLast(({ kind }) => kind === 'events')
    assert.deepEqual(events?.kind === 'events' && events.rows.map(({ name }) => name), ['mine'])
    const history = seen.findLast(({ kind }) => kind === 'history')
    assert.deepEqual(history?.kind === 'history' && history.node.map(({ cpu }) => cpu), [0.25, 0.5])
    assert.equal(has(seen, 'problem'), false)
    const session = (await (await get('/session')).json()) as { readonly user: string; readonly nodeName: string }
    assert.equal(session.nodeName, 'node-1')
    assert.match(session.user, /admin/)
    assert.equal((await get('/api/v1/pods')).status, 200)
  })

  test('works with a kubelet that explains nothing, and says so', async (t) => {
    answers = { '/stats/summary': { node: { cpu: { usageNanoCores: 5e8 } }, pods: [] } }
    const { get } = await serve(t)
    const seen = await follow(get, (all) => has(all, 'sample') && has(all, 'pods') && has(all, 'problem'))
    const problem = seen.find(({ kind }) => kind === 'problem')
    assert.ok(problem?.kind === 'problem')
    assert.equal(problem.source, 'missing')
    assert.match(problem.text ?? '', /^The kubelet of this node is not Deckhand/)
    assert.equal((await get('/agent/why?pod=default/mine')).status, 404)
    const storage = (await (await get('/agent/storage')).json()) as { readonly problems: readonly string[] }
    assert.deepEqual(storage.problems, [])
  })

  test('has the rights of its file: a reader may not reach the kubelet, and sees the rest', async (t) => {
    answers = { '/why': { pods: [], manifests: [] }, '/stats/summary': {} }
    const { get } = await serve(t, { kubeconfig: join(folder, 'reader.kubeconfig') })
    const seen = await follow(get, (all) => has(all, 'problem') && has(all, 'pods'))
    const problem = seen.find(({ kind }) => kind === 'problem')
    assert.equal(problem?.kind === 'problem' && problem.text, 'This user may not see nodes/proxy')
    assert.equal((await get('/api/v1/secrets')).status, 403)
  })

  test('asks a kubelet alone: pods, usage and logs of its port; nothing can be changed, and no buttons are offered', async (t) => {
    const metadata = { name: 'static', namespace: 'default', uid: 'u' }
    const pod = (phase: string) => ({ metadata, spec: { containers: [{ name: 'main' }] }, status: { phase } })
    const stats = { node: { nodeName: 'alone', cpu: { usageNanoCores: 5e8 } }, pods: [] }
    const logs = { '/containerLogs/default/static/main': { said: 'this' } }
    answers = { '/pods': { items: [pod('Pending')] }, '/stats/summary': stats, '/healthz': {}, ...logs }
    // Its certificate has no name: the authority of the file is what counts.
    const kubelet = new URL(`https://127.0.0.1:${port}`)
    const { get, post: change } = await serve(t, { kubelet })
    const session = (await (await get('/session')).json()) as { readonly nodeName: string; readonly isKubelet: boolean }
    assert.deepEqual([session.nodeName, session.isKubelet], ['alone', true])
    const seen = await follow(get, (all) => {
      // Its port has no watch: it is asked again.
      if (has(all, 'pods')) answers = { ...answers, '/pods': { items: [pod('Running')] } }
      return has(all, 'pod') && has(all, 'sample')
    })
    const row = seen.findLast(({ kind }) => kind === 'pod')
    assert.equal(row?.kind === 'pod' && row.row.status, 'Running')
    assert.equal(
      seen.some((message) => message.kind === 'problem' && message.source !== 'missing'),
      false,
    )
    const path = '/api/v1/namespaces/default/pods/static'
    const { status } = (await (await get(path)).json()) as { readonly status: object }
    assert.deepEqual(status, { phase: 'Running' })
    assert.equal(await (await get(`${path}/log?container=main&tailLines=5`)).text(), '{"said":"this"}')
    assert.equal((await get('/api/v1/namespaces/default/pods/other')).status, 404)
    assert.equal((await get('/api/v1/secrets')).status, 404)
    assert.equal((await change(path, 'DELETE')).status, 405)
    const questions = [
      { verb: 'delete', resource: 'pods', namespace: 'default', name: 'static' },
      { verb: 'create', resource: 'pods', subresource: 'exec', namespace: 'default', name: 'static' },
    ]
    // What it answers about a pod that is not there is what it thinks of the user.
    assert.deepEqual(await (await change('/access', 'POST', questions)).json(), [false, true])
    const storage = (await (await get('/agent/storage')).json()) as { readonly problems: readonly string[] }
    assert.deepEqual(storage.problems, [])
  })

  test('says that no kubelet answers', async (t) => {
    const kubelet = new URL('https://127.0.0.1:1')
    await assert.rejects(serve(t, { kubelet }), /Cannot ask the kubelet at 127\.0\.0\.1:1: /)
  })

  test('says what is wrong with a file, or which nodes there are', async (t) => {
    const broken = join(folder, 'broken.kubeconfig')
    writeFileSync(broken, readFileSync(join(folder, 'admin.kubeconfig'), 'utf8').replace('users:', 'people:'))
    const isError = (message: RegExp) => (error: unknown) => {
      assert.ok(error instanceof NodeError)
      assert.match(error.message, message)
      return true
    }
    await assert.rejects(serve(t, { kubeconfig: broken }), isError(/broken\.kubeconfig/))
    await assert.rejects(serve(t, { kubeconfig: '/nowhere' }), isError(/Cannot read kubeconfig "\/nowhere"/))
    await assert.rejects(serve(t, { node: 'gone' }), isError(/^Cannot read the nodes: nodes "gone" not found/))
    await addNode('node-2')
    await assert.rejects(serve(t), isError(/^Cannot choose a node: expected --node with one of node-1, node-2/))
  })
})
