import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { formatHandshake } from '../../src/protocols/streams/websocket/websocket-handshake.ts'
import { WebSocketConnection } from '../../src/protocols/streams/websocket/websocket-connection.ts'
import { startFakeKubelet } from '../component/api-server/fake-kubelet.ts'
import { TestPage } from '../component/page/start-page.ts'
import { openBrowser } from './open-browser.ts'
import type { TestBrowser } from './open-browser.ts'

/** Elements, scripts and what ends them, and characters that turn text around or clear a screen. */
const EVIL = `<img src=x onerror=alert(1)><script>alert(2)</script>"'\`</pre></title>\${alert(3)}\u202E\u001B[2J`
/** For fields that take no colon, which is what it has none of. */
const WORD = '<script>alert'

let page: TestPage
let browser: TestBrowser
const cleanups: (() => unknown)[] = []

async function post(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const made = await page.api.call(page.api.admin, 'POST', path, body)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return made.body
}

/** A pod that has the text in every string that it, its image or its programs choose; the rest is limited to letters by the API. */
async function fill(port: number): Promise<void> {
  const { api, agent } = page
  await post('/api/v1/nodes', {
    metadata: { name: 'node-1' },
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
      declaredFeatures: ['ExtendWebSocketsToKubelet'],
      conditions: [{ type: 'Ready', status: 'False', reason: 'Evil', message: EVIL }],
    },
  })
  const probe = { exec: { command: [EVIL, EVIL] } }
  const pod = await post('/api/v1/namespaces/default/pods', {
    metadata: { name: 'evil', annotations: { 'evil.example/text': EVIL } },
    spec: {
      nodeName: 'node-1',
      containers: [
        {
          name: 'main',
          image: EVIL,
          command: [EVIL],
          args: [EVIL],
          workingDir: EVIL,
          env: [{ name: 'EVIL', value: EVIL }],
          ports: [{ containerPort: 80, name: 'evil' }],
          readinessProbe: probe,
          livenessProbe: { httpGet: { path: EVIL, port: 80, httpHeaders: [{ name: 'Evil', value: EVIL }] } },
          lifecycle: { preStop: probe },
          volumeMounts: [{ name: 'evil', mountPath: `/${WORD}`, subPath: WORD }],
          terminationMessagePath: EVIL,
        },
      ],
      volumes: [{ name: 'evil', hostPath: { path: `/${EVIL}` } }],
    },
  })
  const { uid } = pod['metadata'] as { uid: string }
  const ended = { exitCode: 1, reason: EVIL, message: EVIL, containerID: EVIL }
  const patch = { ...api.node, headers: { 'content-type': 'application/merge-patch+json' } }
  const status = {
    phase: 'Failed',
    reason: EVIL,
    message: `Pod was rejected: ${EVIL}`,
    conditions: [{ type: 'Ready', status: 'False', reason: 'Evil', message: EVIL }],
    containerStatuses: [
      {
        name: 'main',
        ready: false,
        restartCount: 3,
        image: EVIL,
        imageID: EVIL,
        containerID: EVIL,
        state: { running: {} },
        lastState: { terminated: ended },
      },
    ],
  }
  const path = '/api/v1/namespaces/default/pods/evil/status'
  const patched = await api.call(patch, 'PATCH', path, { status })
  assert.equal(patched.status, 200, JSON.stringify(patched.body))
  const about = { involvedObject: { kind: 'Pod', name: 'evil', namespace: 'default', fieldPath: EVIL } }
  await post('/api/v1/namespaces/default/events', {
    metadata: { name: 'evil' },
    ...about,
    reason: EVIL,
    message: EVIL,
    type: 'Warning',
  })
  const times = { startedAt: Date.now() - 1000, ms: 5 }
  agent.pods = [
    {
      uid,
      why: EVIL,
      steps: [{ name: EVIL, ...times, error: EVIL }],
      probes: [
        { container: 'main', type: 'readiness', result: 'failure', output: EVIL, at: Date.now(), ms: 1, since: 0 },
      ],
      volumes: [{ name: 'evil', path: EVIL }],
    },
  ]
  agent.manifests = [{ file: EVIL, line: 1, object: EVIL, reason: EVIL }]
  agent.images = { images: [{ id: EVIL, names: [EVIL], sizeBytes: 1, pinned: false, inUse: false }] }
}

/** Nothing of the text became more than text, or hides something. */
async function assertHarmless(tab: Page, where: string): Promise<void> {
  const found = await tab.evaluate(`({
    elements: [...document.querySelectorAll('img, iframe, object, embed, body script, [onerror], [onload], [style*=url]')].map((each) => each.outerHTML),
    links: [...document.links].map(({ protocol, hostname }) => protocol + hostname).filter((each) => each !== 'http:127.0.0.1'),
    // A terminal draws what its program writes; that it changes nothing else is shown by a test of its own.
    signs: [...[...document.querySelectorAll('header, h1, h2, p, table, ol, ul, dl, pre, form, figure, .log-box')].map((each) => each.innerText).join('')].filter((sign) => /[\\u001B\\u202A-\\u202E\\u2066-\\u2069]/.test(sign)),
    titles: [...document.querySelectorAll('[title], [aria-label]')].flatMap((each) => [each.title, each.ariaLabel ?? '']).filter((text) => /[\\u001B\\u202A-\\u202E]/.test(text)),
    isThere: /<script>/.test(document.body.innerText + [...document.querySelectorAll('textarea')].map(({ value }) => value)),
  })`)
  assert.deepEqual(found, { elements: [], links: [], signs: [], titles: [], isThere: true }, where)
}

describe('a hostile pod', () => {
  before(async () => {
    ;[page, browser] = await Promise.all([TestPage.start({ isBuilt: true }), openBrowser()])
    const t = { after: (work: () => unknown) => void cleanups.push(work) }
    const { port } = await startFakeKubelet(
      t,
      page.api.folder,
      (_, response) => response.end(`${EVIL}\n`),
      (request, socket, head) => {
        socket.write(formatHandshake(request.headers, 'v5.channel.k8s.io'))
        const connection = new WebSocketConnection(socket, head)
        const status = { status: 'Failure', message: EVIL }
        void (async () => {
          await connection.send(Uint8Array.of(1), Buffer.from(`${EVIL}\r\n`))
          await connection.send(Uint8Array.of(3), Buffer.from(JSON.stringify(status)))
          connection.close('normal')
        })().catch(() => {})
      },
    )
    await fill(port)
    await browser.signIn(page.link())
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await page[Symbol.asyncDispose]()
    for (const work of cleanups) await work()
  })

  test('is nothing but text on every screen, and nothing is asked of another host', async () => {
    const { tab, faults } = await browser.open()
    const foreign: string[] = []
    tab.on('request', (request) => {
      if (!request.url().startsWith(page.address) && !request.url().startsWith('blob:')) foreign.push(request.url())
    })
    const screens = {
      '/': ['.events .message', '.refused li:nth-child(2)', '#pods .col-why'],
      '/storage': ['td, th'],
      '/pods/default/evil': ['.steps .error', '.last-lines pre', '.output', '.events .message', 'td code'],
      '/pods/default/evil/logs': ['.log-line'],
      '/pods/default/evil/yaml': ['.code span'],
    }
    for (const [path, places] of Object.entries(screens)) {
      await tab.goto(`${page.address}${path}`)
      for (const place of places) await tab.locator(place).filter({ hasText: '<script>' }).first().waitFor()
      await assertHarmless(tab, path)
    }
    await tab.goto(`${page.address}/pods/default/evil/terminal`)
    await tab.getByRole('button', { name: 'Open a terminal' }).click()
    await tab.getByRole('status').getByText('<script>').waitFor()
    await tab.locator('.xterm-rows', { hasText: '<script>' }).waitFor()
    await assertHarmless(tab, 'the terminal')
    assert.deepEqual([faults, foreign], [[], []])
    await tab.close()
  })

  test('is nothing but text in what asks before something is done', async () => {
    const { tab, faults } = await browser.open()
    await tab.goto(`${page.address}/pods/default/evil`)
    await tab.getByRole('button', { name: 'Edit YAML…' }).click()
    const dialog = tab.getByRole('dialog')
    const editor = dialog.getByRole('textbox')
    await editor.and(tab.locator(':enabled')).waitFor()
    await editor.fill((await editor.inputValue()).replace('annotations:', 'annotations:\n    other: "<script>\\u202E"'))
    await dialog.getByRole('button', { name: 'Check' }).click()
    await dialog.locator('ins', { hasText: '<script>' }).waitFor()
    await assertHarmless(tab, 'the difference')
    await tab.goto(page.address)
    await tab.getByRole('button', { name: 'Apply a file…' }).click()
    const name = JSON.stringify(EVIL)
    const file = `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\n---\napiVersion: v1\nkind: ${name}\nmetadata: {name: a}\n`
    await dialog.getByRole('textbox').fill(file)
    await dialog.getByRole('button', { name: 'Check' }).click()
    await dialog.locator('.bad-text', { hasText: '<script>' }).first().waitFor()
    await assertHarmless(tab, 'a file')
    assert.deepEqual(
      faults.filter((fault) => !/status of (?:400|404|422)/.test(fault)),
      [],
    )
    await tab.close()
  })
})
