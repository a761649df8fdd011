import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PageMessage } from '../../../src/page/messages/page-message.ts'
import { issueLinkToken } from '../../../src/page/server/link-tokens.ts'
import { TestPage } from './start-page.ts'

type Headers = Readonly<Record<string, string>>

let page: TestPage
before(async () => {
  page = await TestPage.start()
})
after(async () => await page[Symbol.asyncDispose]())

/** As fetch, but with any header. */
async function call(path: string, headers: Headers = {}, method = 'GET', body?: object | string) {
  const sentText = typeof body === 'object' ? JSON.stringify(body) : body
  const length = Buffer.byteLength(sentText ?? '')
  const type = sentText === undefined ? {} : { 'content-type': 'application/json', 'content-length': length }
  const sent = request(new URL(path, page.address), { method, headers: { ...type, ...headers }, agent: false })
  sent.end(sentText)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const text = Buffer.concat(await response.toArray()).toString('utf8')
  return { status: response.statusCode ?? 0, headers: response.headers, text }
}

const ownOrigin = () => ({ origin: page.address })

/** Both halves of a new session. */
async function signIn(
  identity: 'admin' | 'reader' = 'admin',
): Promise<{ readonly cookie: string; readonly 'x-deckhand-key': string }> {
  const { headers } = await call(page.link(identity))
  const [cookie = ''] = String(headers['set-cookie']).split(';')
  const { text } = await call('/session', { cookie, ...ownOrigin() }, 'POST')
  return { cookie, 'x-deckhand-key': (JSON.parse(text) as { key: string }).key }
}

/** Reads the stream until a message is as wanted. */
async function follow(session: Headers, isWanted: (message: PageMessage) => boolean): Promise<readonly PageMessage[]> {
  const stop = new AbortController()
  const { body } = await fetch(`${page.address}/live`, { headers: session, signal: stop.signal })
  const messages: PageMessage[] = []
  let rest = ''
  try {
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      rest += Buffer.from(chunk).toString('utf8')
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        messages.push(JSON.parse(line) as PageMessage)
        if (isWanted(messages.at(-1)!)) return messages
      }
    }
  } finally {
    stop.abort()
  }
  throw new Error('The stream ended')
}

describe('signing in', () => {
  test('a link is worth a cookie once, and no address has the token afterwards', async () => {
    const link = page.link()
    const looked = await call(link, {}, 'HEAD')
    assert.deepEqual([looked.status, looked.headers['set-cookie']], [401, undefined])
    const first = await call(link)
    assert.equal(first.status, 303)
    assert.equal(first.headers.location, '/')
    const cookie = String(first.headers['set-cookie'])
    assert.match(cookie, /^deckhand-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
    // Ports of a host have the same cookies: that of another page is another one.
    assert.ok(cookie.startsWith(`deckhand-${new URL(page.address).port}=`), cookie)
    const second = await call(link)
    assert.deepEqual([second.status, second.headers['set-cookie']], [403, undefined])
    assert.match(second.text, /used already, or is too old\. Run "deckhand page"/)
  })

  test('a link that is too old, changed or of another key opens nothing', async () => {
    const now = Date.now()
    const good = issueLinkToken('a key for tests', 'reader', now)
    const tokens = [
      '',
      'admin',
      issueLinkToken('another key', 'admin', now),
      issueLinkToken('a key for tests', 'admin', now - 15 * 60_000),
      good.replace('reader', 'admin'),
      `${good}.x`,
    ]
    for (const token of tokens)
      assert.equal((await call(`/sign-in?token=${encodeURIComponent(token)}`)).status, 403, token)
    assert.equal((await call(`/sign-in?token=${good}`)).status, 303)
  })

  test('needs both halves: the cookie, and the key that is given out once', async () => {
    const session = await signIn()
    assert.equal((await call('/session', session)).status, 200)
    assert.equal((await call('/session', { cookie: session.cookie })).status, 401)
    assert.equal((await call('/session', { 'x-deckhand-key': session['x-deckhand-key'] })).status, 401)
    assert.equal((await call('/session', { cookie: session.cookie, ...ownOrigin() }, 'POST')).status, 401)
    const other = await signIn()
    assert.equal((await call('/session', { ...session, 'x-deckhand-key': other['x-deckhand-key'] })).status, 401)
  })

  test('without a session nothing of the node is readable', async () => {
    for (const path of ['/live', '/api/v1/pods', '/agent/why?pod=a', '/apis', '/session'])
      assert.equal((await call(path)).status, 401, path)
  })

  test('signing out ends the session', async () => {
    const session = await signIn()
    assert.equal((await call('/session', { ...session, ...ownOrigin() }, 'DELETE')).status, 200)
    assert.equal((await call('/api/v1/pods', session)).status, 401)
  })
})

describe('requests of others', () => {
  test('a name that leads here is not answered (DNS rebinding), a tunnel is', async () => {
    const session = await signIn()
    for (const host of ['evil.example', 'localhost.evil.example:6080', '127.0.0.1.evil.example', '10.0.0.1:6080'])
      assert.equal((await call('/session', { ...session, host })).status, 403, host)
    for (const host of ['127.0.0.1:9999', 'localhost:8080', '[::1]:6080']) {
      // As a browser has it that signed in there.
      const cookie = session.cookie.replace(/\d+=/, `${host.split(':').at(-1)}=`)
      assert.equal((await call('/session', { ...session, cookie, host })).status, 200, host)
    }
  })

  test('another origin gets nothing, nor does another site', async () => {
    const session = await signIn()
    for (const origin of ['http://evil.example', 'null', 'http://127.0.0.1:1', page.address.replace('http', 'https')])
      assert.equal((await call('/session', { ...session, origin })).status, 403, origin)
    for (const site of ['cross-site', 'same-site'])
      assert.equal((await call('/session', { ...session, 'sec-fetch-site': site })).status, 403, site)
    assert.equal((await call('/session', { ...session, 'sec-fetch-site': 'same-origin' })).status, 200)
  })

  test('what changes something needs an origin and both halves of the session', async () => {
    const session = await signIn()
    assert.equal((await call('/session', session, 'DELETE')).status, 403)
    const path = '/api/v1/namespaces/default/pods/a'
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      assert.equal((await call(path, session, method)).status, 403, `${method} without an origin`)
      const foreign = { ...session, origin: 'http://127.0.0.1:1' }
      assert.equal((await call(path, foreign, method)).status, 403, `${method} of another port`)
      const half = { cookie: session.cookie, ...ownOrigin() }
      assert.equal((await call(path, half, method)).status, 401, `${method} without the key`)
    }
    for (const path of ['/access', '/agent/pull']) assert.equal((await call(path, session, 'POST')).status, 403, path)
  })

  test('every answer has a strict policy, and is not to be guessed at', async () => {
    const session = await signIn()
    for (const path of ['/', '/session', '/api/v1/pods', '/sign-in', '/nothing', '/assets/x.js']) {
      const { headers } = await call(path, session)
      assert.match(String(headers['content-security-policy']), /^default-src 'none';/, path)
      assert.doesNotMatch(String(headers['content-security-policy']), /unsafe/, path)
      assert.equal(headers['x-content-type-options'], 'nosniff', path)
      assert.equal(headers['access-control-allow-origin'], undefined, path)
    }
  })

  test('a page that is not built is reported', async () => {
    const { status, text } = await call('/')
    assert.deepEqual([status, text], [503, 'The page is not built: run "npm run build" in the checkout.\n'])
  })
})

describe('the API behind the page', () => {
  test('answers with the rights of the session: a reader sees no secrets', async () => {
    const [admin, reader] = [await signIn(), await signIn('reader')]
    assert.equal((await call('/api/v1/secrets', admin)).status, 200)
    const refused = await call('/api/v1/secrets', reader)
    assert.equal(refused.status, 403)
    assert.match(refused.text, /User \\"reader\\" cannot list resource \\"secrets\\"/)
    assert.equal((await call('/api/v1/pods', reader)).status, 200)
    assert.match((await call('/session', reader)).text, /"user":"reader","isReader":true/)
  })

  test('passes nothing on to pods or nodes, however the path is written', async () => {
    const session = await signIn()
    const paths = [
      '/api/v1/namespaces/default/pods/web/proxy/',
      '/api/v1/namespaces/default/pods/web:80/proxy',
      '/api/v1/nodes/node-1/proxy/why',
      '/api/v1/nodes/node-1/%70roxy/why',
      '/api/v1/../v1/nodes/node-1/proxy/why',
    ]
    for (const path of paths) assert.ok([400, 403].includes((await call(path, session)).status), path)
  })

  test('changes what the user may change, and a reader nothing', async () => {
    const [admin, reader] = [await signIn(), await signIn('reader')]
    const pods = '/api/v1/namespaces/default/pods'
    const pod = { metadata: { name: 'made' }, spec: { containers: [{ name: 'main', image: 'a' }] } }
    const refused = await call(pods, { ...reader, ...ownOrigin() }, 'POST', pod)
    assert.equal(refused.status, 403)
    assert.match(refused.text, /User \\"reader\\" cannot create resource \\"pods\\"/)
    assert.equal((await call(`${pods}?dryRun=All`, { ...admin, ...ownOrigin() }, 'POST', pod)).status, 201)
    assert.equal((await call(`${pods}/made`, admin)).status, 404)
    assert.equal((await call(pods, { ...admin, ...ownOrigin() }, 'POST', pod)).status, 201)
    const patch = { ...ownOrigin(), 'content-type': 'application/merge-patch+json' }
    const labels = { metadata: { labels: { by: 'page' } } }
    assert.equal((await call(`${pods}/made`, { ...reader, ...patch }, 'PATCH', labels)).status, 403)
    assert.match((await call(`${pods}/made`, { ...admin, ...patch }, 'PATCH', labels)).text, /"by":"page"/)
    assert.equal((await call(`${pods}/made`, { ...reader, ...ownOrigin() }, 'DELETE')).status, 403)
    const path = `${pods}/made?gracePeriodSeconds=0`
    assert.equal((await call(path, { ...admin, ...ownOrigin() }, 'DELETE')).status, 200)
  })

  test('takes no body of another kind, nor a larger one than the API', async () => {
    const headers = { ...(await signIn()), ...ownOrigin() }
    const pods = '/api/v1/namespaces/default/pods'
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data'])
      assert.equal((await call(pods, { ...headers, 'content-type': type }, 'POST', '{}')).status, 415, type)
    assert.equal((await call(pods, headers, 'POST', `"${'x'.repeat(3 * 1024 * 1024)}"`)).status, 413)
    assert.equal((await call(pods, headers, 'OPTIONS')).status, 405)
  })

  test('says what its user may do', async () => {
    const [admin, reader] = [await signIn(), await signIn('reader')]
    const questions = [
      { verb: 'delete', resource: 'pods', namespace: 'default', name: 'web' },
      { verb: 'list', resource: 'pods', namespace: 'default' },
      { verb: 'create', resource: 'pods', subresource: 'exec', namespace: 'default' },
      { verb: 'create', resource: 'nodes', subresource: 'proxy', name: 'node-1' },
    ]
    const ask = async (session: Headers, body: object | string = questions) =>
      await call('/access', { ...session, ...ownOrigin() }, 'POST', body)
    assert.equal((await ask(admin)).text, '[true,true,true,true]')
    assert.equal((await ask(reader)).text, '[false,true,false,false]')
    for (const body of ['', '{}', '[1]', [{ verb: 1 }], Array.from({ length: 41 }, () => ({ verb: 'get' }))])
      assert.equal((await ask(admin, body)).status, 400, JSON.stringify(body))
  })

  test('pulls an image for those who may do anything to the node', async () => {
    const [admin, reader] = [await signIn(), await signIn('reader')]
    const pull = async (session: Headers, image: unknown) =>
      await call('/agent/pull', { ...session, ...ownOrigin() }, 'POST', { image })
    assert.equal((await pull(reader, 'busybox:1')).status, 403)
    for (const image of ['', '--state', '-x', 'a b', 5]) assert.equal((await pull(admin, image)).status, 400)
    assert.deepEqual(page.agent.pulled, [])
    assert.deepEqual((await pull(admin, 'busybox:1')).text, '{}')
    assert.deepEqual(page.agent.pulled, ['busybox:1'])
    assert.equal((await pull(admin, 'missing:1')).text, '{"error":"Cannot pull \\"missing:1\\": not found"}')
  })

  test('forwards a port for those who may, to another host, and ends that with the session', async () => {
    const session = { ...(await signIn()), ...ownOrigin() }
    const wanted = { namespace: 'default', pod: 'web', port: 8080 }
    for (const bad of ['', '[]', { ...wanted, port: 0 }, { ...wanted, pod: '../x' }, { ...wanted, port: '80' }])
      assert.equal((await call('/forwards', session, 'POST', bad)).status, 400, JSON.stringify(bad))
    const reader = { ...(await signIn('reader')), ...ownOrigin() }
    assert.equal((await call('/forwards', reader, 'POST', wanted)).status, 403)
    assert.equal((await call('/forwards', { ...session, origin: 'http://127.0.0.2:1' }, 'POST', wanted)).status, 403)
    const { status, text } = await call('/forwards', session, 'POST', wanted)
    assert.equal(status, 200, text)
    const { address } = JSON.parse(text) as { readonly address: string }
    const { hostname, port } = new URL(`http://${address}`)
    // What pods serve has no cookie of the page, which are the same for all ports of a host.
    assert.notEqual(hostname, new URL(page.address).hostname)
    assert.deepEqual(JSON.parse((await call('/forwards', session, 'POST', wanted)).text), JSON.parse(text))
    assert.deepEqual(JSON.parse((await call('/forwards', reader)).text), [])
    const connected = connect({ host: hostname, port: Number(port) })
    await once(connected, 'connect')
    // There is no such pod: the API says so, and the connection ends.
    connected.on('error', () => {})
    await once(connected, 'close')
    const [listed] = JSON.parse((await call('/forwards', session)).text) as { readonly problem?: string }[]
    assert.match(listed?.problem ?? '', /not found/)
    await call('/session', session, 'DELETE')
    const refused = connect({ host: hostname, port: Number(port) })
    await assert.rejects(once(refused, 'connect'), { code: 'ECONNREFUSED' })
  })

  test('a forwarded port is not there any more when it is stopped', async () => {
    const session = { ...(await signIn()), ...ownOrigin() }
    const wanted = { namespace: 'default', pod: 'web', port: 8080 }
    const { text } = await call('/forwards', session, 'POST', wanted)
    const { hostname, port } = new URL(`http://${(JSON.parse(text) as { readonly address: string }).address}`)
    assert.equal((await call('/forwards', session, 'DELETE', wanted)).status, 200)
    assert.deepEqual(JSON.parse((await call('/forwards', session)).text), [])
    await assert.rejects(once(connect({ host: hostname, port: Number(port) }), 'connect'), { code: 'ECONNREFUSED' })
  })

  test('data is only data: its type is ours, and it may do nothing', async () => {
    const { headers } = await call('/api/v1/pods', await signIn())
    assert.equal(headers['content-type'], 'application/json')
    assert.match(String(headers['content-security-policy']), /sandbox/)
    assert.equal(headers['cache-control'], 'no-store')
  })
})

describe('a terminal', () => {
  const path = '/api/v1/namespaces/default/pods/web/exec?command=sh&stdout=true&container=main'
  const upgrade = async (headers: Headers, target = path) => {
    const handshake = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    }
    return await call(target, { ...handshake, ...headers })
  }

  test('needs an origin of our own and both halves of the session, and the rights of its user', async () => {
    const [admin, reader] = [await signIn(), await signIn('reader')]
    const halves = ({ cookie, 'x-deckhand-key': key }: typeof admin) => ({
      cookie,
      'sec-websocket-protocol': `v5.channel.k8s.io, deckhand-key.${key}`,
    })
    assert.equal((await upgrade(halves(admin))).status, 403)
    assert.equal((await upgrade({ ...halves(admin), origin: 'http://127.0.0.1:1' })).status, 403)
    assert.equal((await upgrade({ ...halves(admin), ...ownOrigin(), host: 'evil.example' })).status, 403)
    assert.equal((await upgrade({ cookie: admin.cookie, ...ownOrigin() })).status, 401)
    assert.equal((await upgrade({ ...halves(admin), cookie: reader.cookie, ...ownOrigin() })).status, 401)
    const refused = await upgrade({ ...halves(reader), ...ownOrigin() })
    assert.equal(refused.status, 403)
    assert.match(refused.text, /User \\"reader\\" cannot (?:create|get) resource \\"pods\/exec\\"/)
    // With the rights for it, it is the pod that is missing.
    const missing = await upgrade({ ...halves(admin), ...ownOrigin() })
    assert.equal(missing.status, 404)
    assert.match(missing.text, /pods \\"web\\" not found/)
  })

  test('is the only place where another protocol is spoken', async () => {
    const { cookie, 'x-deckhand-key': key } = await signIn()
    const headers = { cookie, 'sec-websocket-protocol': `deckhand-key.${key}`, 'x-deckhand-key': key, ...ownOrigin() }
    const answers = {
      '/api/v1/namespaces/default/pods/web/attach': 400,
      '/api/v1/namespaces/default/pods/web/portforward': 400,
      '/api/v1/nodes/node-1/proxy/exec': 403,
      '/exec': 404,
    }
    for (const [target, status] of Object.entries(answers))
      assert.equal((await upgrade(headers, target)).status, status, target)
  })
})

describe('the stream', () => {
  test('brings the node, pods and events, then what changes, with sentences and samples of the agent', async () => {
    const { api, agent } = page
    const pod = { metadata: { name: 'web' }, spec: { containers: [{ name: 'main', image: 'a' }] } }
    const made = await api.call(api.admin, 'POST', '/api/v1/namespaces/default/pods', pod)
    assert.equal(made.status, 201)
    const { uid } = made.body['metadata'] as { uid: string }
    agent.pods = [{ uid, why: 'Runs and is ready' }]
    agent.manifests = [{ file: 'bad.yaml', line: 3, reason: 'no kind' }]
    agent.summary = {
      node: { cpu: { usageNanoCores: 5e8 } },
      pods: [{ podRef: { uid }, memory: { workingSetBytes: 7 } }],
    }
    const seen = await follow(await signIn(), ({ kind }) => kind === 'sample')
    const find = (kind: PageMessage['kind']) => seen.findLast((message) => message.kind === kind)
    const pods = find('pods')
    assert.ok(pods?.kind === 'pods')
    assert.deepEqual(
      pods.rows.map(({ name, status, containers }) => [name, status, containers]),
      [['web', 'Pending', 1]],
    )
    assert.deepEqual(find('why'), { kind: 'why', sentences: { [uid]: 'Runs and is ready' } })
    assert.deepEqual(find('refused'), { kind: 'refused', files: agent.manifests })
    const sample = find('sample')
    assert.ok(sample?.kind === 'sample')
    assert.deepEqual([sample.node.cpu, sample.pods], [0.5, { [uid]: [null, 7] }])
    await api.call(api.admin, 'DELETE', '/api/v1/namespaces/default/pods/web?gracePeriodSeconds=0')
  })

  test('ends with its last reader: the agent is asked no more', async () => {
    const session = await signIn()
    await follow(session, ({ kind }) => kind === 'sample')
    await sleep(100)
    const asked = page.agent.asked.length
    await sleep(1500)
    assert.equal(page.agent.asked.length, asked)
    // The next one gets what the last hour had.
    const again = await follow(session, ({ kind }) => kind === 'history')
    const history = again.find(({ kind }) => kind === 'history')
    assert.ok(history?.kind === 'history' && history.node.length > 0)
  })

  test('goes on for the others when one leaves', async () => {
    const [first, second] = [await signIn(), await signIn()]
    const { api } = page
    const stop = new AbortController()
    const { body } = await fetch(`${page.address}/live`, { headers: first, signal: stop.signal })
    await body?.getReader().read()
    const pod = { metadata: { name: 'late' }, spec: { containers: [{ name: 'main', image: 'a' }] } }
    let isMade = false
    await follow(second, (message) => {
      if (message.kind === 'pods' && !isMade) {
        isMade = true
        stop.abort()
        void sleep(50).then(() => api.call(api.admin, 'POST', '/api/v1/namespaces/default/pods', pod))
      }
      return message.kind === 'pod' && message.row.name === 'late'
    })
  })

  test('ends with the session', async () => {
    const session = await signIn()
    const stop = new AbortController()
    const { body } = await fetch(`${page.address}/live`, { headers: session, signal: stop.signal })
    const ended = (async () => {
      for await (const _ of (body ?? []) as AsyncIterable<Uint8Array>);
      return 'ended'
    })()
    await call('/session', { ...session, ...ownOrigin() }, 'DELETE')
    assert.equal(await ended, 'ended')
  })

  test('connections that ask for nothing keep no page out, nor end one that is followed', async () => {
    const { port, hostname } = new URL(page.address)
    const silent = Array.from({ length: 250 }, () => connect(Number(port), hostname))
    for (const socket of silent) socket.on('error', () => {})
    try {
      await Promise.all(silent.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])))
      const session = await signIn()
      assert.ok((await follow(session, ({ kind }) => kind === 'pods')).length > 0)
    } finally {
      for (const socket of silent) socket.destroy()
    }
  })
})
