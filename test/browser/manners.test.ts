import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { TestPage } from '../component/page/start-page.ts'
import { findBarriers } from './find-barriers.ts'
import { openBrowser } from './open-browser.ts'
import type { TestBrowser } from './open-browser.ts'

const SCREENS = [
  '/',
  '/storage',
  '/pods/default/web',
  '/pods/default/web/logs',
  '/pods/default/web/yaml',
  '/pods/default/web/terminal',
] as const
const COLOURS = ['light', 'dark'] as const
const PODS = 12
/** What people hardly notice. */
const MOST_SHIFT = 0.1
const MOST_BYTES = 200 * 1024
const SLOW = { offline: false, latency: 200, downloadThroughput: 50_000, uploadThroughput: 20_000 }

let page: TestPage
let browser: TestBrowser

async function post(path: string, body: object): Promise<void> {
  const { status, body: said } = await page.api.call(page.api.admin, 'POST', path, body)
  assert.equal(status, 201, JSON.stringify(said))
}

async function addPod(name: string): Promise<void> {
  const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example/web:1' }] }
  await post('/api/v1/namespaces/default/pods', { metadata: { name }, spec })
}

async function isLive(tab: Page): Promise<void> {
  await tab.getByText('live', { exact: true }).waitFor()
}

/** Opens a screen, and waits until it has what it shows. */
async function show(tab: Page, path: (typeof SCREENS)[number]): Promise<void> {
  await tab.goto(`${page.address}${path}`)
  await isLive(tab)
  const content = {
    '/': '#pods tbody tr',
    '/storage': 'main h2',
    '/pods/default/web': '.steps rect',
    '/pods/default/web/logs': '.log-box',
    '/pods/default/web/yaml': '.filled',
    '/pods/default/web/terminal': 'form.bar',
  }
  await tab.locator(content[path]).first().waitFor()
}

describe('manners', () => {
  before(async () => {
    const options = { timezoneId: 'Asia/Kolkata', reducedMotion: 'reduce' as const }
    ;[page, browser] = await Promise.all([TestPage.start({ isBuilt: true }), openBrowser(options)])
    await post('/api/v1/nodes', { metadata: { name: 'node-1' } })
    for (let index = 0; index < PODS; index += 1) await addPod(index === 0 ? 'web' : `pod-${index}`)
    await post('/api/v1/namespaces/default/events', {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', name: 'web', namespace: 'default' },
      reason: 'Tested',
      message: 'said at half past ten in the morning, UTC',
      lastTimestamp: '2026-01-02T10:30:00Z',
    })
    const steps = [{ name: 'create sandbox', startedAt: Date.now() - 5000, ms: 5 }]
    page.agent.pods = [{ uid: 'none', why: 'Runs and is ready', steps, probes: [], volumes: [] }]
    page.agent.summary = {
      node: { cpu: { usageNanoCores: 5e8 }, memory: { workingSetBytes: 2e9, availableBytes: 3e9 } },
      pods: [],
    }
    page.agent.images = { images: [] }
    // There is no kubelet to ask for it.
    await browser.context.route('**/pods/web/log?**', (route) => route.fulfill({ body: 'a line\n' }))
    const { tab } = await browser.open()
    await tab.goto(page.link())
    await isLive(tab)
    await tab.close()
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await page[Symbol.asyncDispose]()
  })

  test('both colours, each without a serious barrier on any screen', async () => {
    const { tab, faults } = await browser.open()
    const grounds = new Set<unknown>()
    for (const path of SCREENS) {
      await show(tab, path)
      for (const colorScheme of COLOURS) {
        await tab.emulateMedia({ colorScheme })
        assert.deepEqual(await findBarriers(tab), [], `${path} ${colorScheme}`)
        grounds.add(await tab.evaluate('getComputedStyle(document.body).backgroundColor'))
      }
    }
    assert.equal(grounds.size, 2)
    assert.deepEqual(faults, [])
    await tab.close()
  })

  test('on a phone nothing is wider than the screen, and nothing moves for those who want that', async () => {
    const { tab } = await browser.open()
    await tab.setViewportSize({ width: 360, height: 740 })
    for (const path of SCREENS) {
      await show(tab, path)
      const wide = await tab.evaluate('document.documentElement.scrollWidth - innerWidth')
      assert.equal(wide, 0, path)
      assert.equal(await tab.evaluate('document.getAnimations().length'), 0, path)
    }
    await tab.close()
  })

  test('nothing that is shown moves while the rest comes', async () => {
    const { tab } = await browser.open()
    // Before anything else, since an event reaches only those who asked before.
    await tab.addInitScript(
      'window.shift = 0; new PerformanceObserver((list) => { for (const each of list.getEntries()) window.shift += each.value }).observe({ type: "layout-shift", buffered: true })',
    )
    for (const path of SCREENS) {
      await show(tab, path)
      await tab.waitForTimeout(300)
      const shift = Number(await tab.evaluate('window.shift'))
      assert.ok(shift <= MOST_SHIFT, `${path} moved by ${shift}`)
    }
    await tab.close()
  })

  test('times have a zone, that of the reader', async () => {
    const { tab } = await browser.open()
    await show(tab, '/')
    await tab
      .getByText('Times are those of Asia/Calcutta (GMT+5:30)')
      .or(tab.getByText('Times are those of Asia/Kolkata (GMT+5:30)'))
      .waitFor()
    const time = tab.locator('.events time').first()
    assert.match(await time.innerText(), /16:00:00/)
    assert.match((await time.getAttribute('title')) ?? '', /GMT\+5:30|IST/)
    assert.equal(await time.getAttribute('datetime'), '2026-01-02T10:30:00Z')
    await tab.close()
  })

  test('another screen has another title, and the keyboard goes on there', async () => {
    const { tab } = await browser.open()
    await show(tab, '/')
    assert.equal(await tab.title(), 'node-1 · Deckhand')
    for (const name of ['main', 'banner', 'contentinfo'] as const) await tab.getByRole(name).waitFor()
    await tab.keyboard.press('Tab')
    assert.equal(await tab.evaluate('document.activeElement.textContent.trim()'), 'Skip to the content')
    await tab.getByRole('link', { name: 'default/web' }).click()
    await tab.getByRole('heading', { level: 1, name: 'default/web' }).waitFor()
    assert.equal(await tab.title(), 'web · node-1')
    assert.equal(await tab.evaluate('document.activeElement.id'), 'main')
    // A part of the same pod leaves the focus where it is.
    await tab.getByRole('link', { name: 'YAML' }).focus()
    await tab.keyboard.press('Enter')
    await tab.locator('.filled').first().waitFor()
    assert.equal(await tab.evaluate('document.activeElement.textContent'), 'YAML')
    await tab.close()
  })

  test('over a slow line it comes in seconds, and is small', async () => {
    const { tab } = await browser.open()
    const network = await browser.context.newCDPSession(tab)
    await network.send('Network.enable')
    await network.send('Network.setCacheDisabled', { cacheDisabled: true })
    await network.send('Network.emulateNetworkConditions', SLOW)
    let bytes = 0
    network.on('Network.dataReceived', ({ encodedDataLength }) => (bytes += encodedDataLength))
    await tab.goto(page.address)
    await tab.getByRole('link', { name: 'default/web' }).waitFor({ timeout: 15_000 })
    await isLive(tab)
    assert.ok(bytes > 10_000 && bytes < MOST_BYTES, `${bytes} bytes`)
    await tab.close()
  })

  test('a page that was left holds no connection, and goes on when one comes back to it', async () => {
    const { tab } = await browser.open()
    const streams: string[] = []
    const isStream = (url: string) => url.endsWith('/live')
    tab.on('request', (request) => isStream(request.url()) && streams.push('open'))
    tab.on('requestfailed', (request) => isStream(request.url()) && streams.push('closed'))
    await tab.goto(page.address)
    await tab.getByText('live', { exact: true }).waitFor()
    // As the browser does for a page that it keeps for the way back.
    await tab.evaluate("dispatchEvent(new Event('pagehide'))")
    await tab.getByText('live', { exact: true }).waitFor({ state: 'detached' })
    await tab.waitForTimeout(1500)
    assert.deepEqual(streams, ['open', 'closed'])
    await tab.evaluate("dispatchEvent(new Event('pageshow'))")
    await tab.getByText('live', { exact: true }).waitFor()
    assert.deepEqual(streams, ['open', 'closed', 'open'])
    await tab.close()
  })

  test('a connection that is lost is shown, and healed without a reload', async () => {
    const line = await openLine(Number(new URL(page.address).port))
    const other = await openBrowser()
    try {
      const { tab } = await other.open()
      const { pathname, search } = new URL(page.link())
      await tab.goto(`${line.address}${pathname}${search}`)
      await isLive(tab)
      await tab.getByRole('link', { name: 'Images and storage' }).click()
      await tab.getByRole('heading', { name: 'Images (0)' }).waitFor()
      await tab.evaluate('window.isSame = true')
      line.cut()
      await tab.getByText('connection lost, trying again…').waitFor()
      await addPod('came-later')
      line.heal()
      await isLive(tab)
      assert.equal(await tab.locator('.bad-note').count(), 0)
      await tab.getByRole('link', { name: 'Node', exact: true }).click()
      await tab.getByRole('link', { name: 'default/came-later' }).waitFor()
      assert.equal(await tab.evaluate('window.isSame'), true)
    } finally {
      await other[Symbol.asyncDispose]()
      line.close()
    }
  })
})

/** A line to a port of this machine that can be cut. */
async function openLine(port: number) {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((socket) => {
    const onward = connect(port, '127.0.0.1')
    for (const each of [socket, onward]) {
      sockets.add(each)
      each.on('error', () => {})
      each.once('close', () => {
        sockets.delete(each)
        socket.destroy()
        onward.destroy()
      })
    }
    if (isCut) socket.destroy()
    socket.pipe(onward).pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    heal: () => (isCut = false),
    close() {
      cut()
      server.close()
    },
  }
}
