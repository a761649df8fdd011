import assert from 'node:assert/strict'
import { availableParallelism, loadavg } from 'node:os'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { TestPage } from '../component/page/start-page.ts'
import { openBrowser } from './open-browser.ts'
import type { TestBrowser } from './open-browser.ts'

const [FEW, PODS] = [100, 500]
const AT_ONCE = 20
const LOADS = 8
const MOST_MS = 1000
const MOST_BYTES = 200_000
/** From here on browsers call a task long: people notice that nothing moves. */
const LONG_MS = 50

let page: TestPage
let browser: TestBrowser
const uids: string[] = []

/** Adds pods until there are so many, each with an hour of measurements. */
async function addPods(count: number): Promise<void> {
  while (uids.length < count)
    uids.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, more) => addPod(uids.length + more)))))
  const use = (index: number) => ({ cpu: { usageNanoCores: index * 1e5 }, memory: { workingSetBytes: index * 1e5 } })
  page.agent.summary = { node: use(count), pods: uids.map((uid, index) => ({ podRef: { uid }, ...use(index) })) }
  page.agent.pods = uids.map((uid) => ({ uid, why: 'Runs and is ready' }))
  const times = Array.from({ length: 180 }, (_, index) => Date.now() - (180 - index) * 20_000)
  const column = times.map((_, index) => index * 1e5)
  const columns = { cpuCores: column.map((value) => value / 1e9), memoryBytes: column }
  page.agent.history = { times, node: columns, pods: Object.fromEntries(uids.map((uid) => [uid, columns])) }
}

async function addPod(index: number): Promise<string> {
  const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example/web:1' }] }
  const pod = { metadata: { name: nameOf(index) }, spec }
  const { status, body } = await page.api.call(page.api.admin, 'POST', '/api/v1/namespaces/default/pods', pod)
  assert.equal(status, 201, JSON.stringify(body))
  return (body['metadata'] as { uid: string }).uid
}

function nameOf(index: number): string {
  return `pod-${String(index).padStart(3, '0')}`
}

/** Notes when the first pod is drawn and the page has time for the next key. */
const NOTE_READY = `
  const observer = new MutationObserver(() => {
    if (document.querySelector('#pods tbody a') === null) return
    observer.disconnect()
    requestAnimationFrame(() => setTimeout(() => (window.readyAt = performance.now())))
  })
  observer.observe(document, { childList: true, subtree: true })
`

describe('the page in time', () => {
  before(async () => {
    ;[page, browser] = await Promise.all([TestPage.start({ isBuilt: true }), openBrowser()])
    await addPods(FEW)
    await browser.signIn(page.link())
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await page[Symbol.asyncDispose]()
  })

  describe('the budget of the first screen', () => {
    test('without anything in a cache it is small, and there in less than a second', async () => {
      const loads: { readonly ms: number; readonly cpuMs: number; readonly bytes: number }[] = []
      // What else runs on the machine makes some of them slower, and none faster.
      while (loads.length < LOADS && !loads.some(({ ms }) => ms < MOST_MS)) loads.push(await load())
      const said = JSON.stringify(loads)
      assert.ok(
        loads.every(({ bytes }) => bytes > 10_000 && bytes < MOST_BYTES),
        said,
      )
      // A machine on which more wants to run than can says little about times: there it is what the server and the page have to compute.
      const isStarved = (loadavg()[0] ?? 0) > 2 * availableParallelism()
      const least = Math.min(...loads.map(({ ms, cpuMs }) => (isStarved ? cpuMs : ms)))
      assert.ok(least < MOST_MS, said)
    })

    async function load() {
      const { tab } = await browser.open()
      const session = await browser.context.newCDPSession(tab)
      await session.send('Network.enable')
      await session.send('Network.setCacheDisabled', { cacheDisabled: true })
      let bytes = 0
      session.on('Network.dataReceived', ({ encodedDataLength }) => (bytes += encodedDataLength))
      await tab.addInitScript(NOTE_READY)
      const cpu = await openCpuMeter(tab)
      const [before, own] = [await cpu(), process.cpuUsage()]
      await tab.goto(page.address)
      await tab.getByRole('link', { name: nameOf(0) }).waitFor()
      // The policy of the page lets nothing wait in it.
      let ms = Number.NaN
      while (Number.isNaN(ms)) ms = Number(await tab.evaluate('window.readyAt ?? NaN'))
      // The server of the page and the API are in this process.
      const { user, system } = process.cpuUsage(own)
      const cpuMs = (await cpu()) - before + (user + system) / 1000
      await tab.keyboard.press('/')
      await tab.keyboard.type('pod-099')
      await tab.getByText(`1 of ${FEW} pods`).waitFor()
      await tab.close()
      return { ms, cpuMs, bytes }
    }
  })

  describe('500 pods', () => {
    test('are scrolled, searched, ordered and updated without a stutter', async () => {
      await addPods(PODS)
      const { tab, faults } = await browser.open()
      await tab.goto(page.address)
      await tab.getByText(`${PODS} pods`).waitFor()
      await tab.locator('.spark polyline').first().waitFor()
      const cpu = await openCpuMeter(tab)
      const costs: Record<string, number[]> = { scroll: [], key: [], order: [], filter: [], change: [] }
      const note = async (kind: string, work: () => Promise<unknown>) => {
        await tab.evaluate(DRAWN)
        const before = await cpu()
        await work()
        await tab.evaluate(DRAWN)
        costs[kind]?.push((await cpu()) - before)
      }
      await tab.getByRole('region', { name: /^Pods: arrow keys/ }).focus()
      // Nearly all lines are others each time.
      for (let step = 0; step < 12; step += 1)
        await note('scroll', () => tab.evaluate('document.querySelector(".table-box").scrollBy(0, 600)'))
      for (const key of ['End', 'Home', 'End', 'Home', 'End', 'Home']) await note('key', () => tab.keyboard.press(key))
      for (const column of ['memory', 'name', 'memory', 'name', 'memory', 'name'])
        await note('order', () => tab.evaluate(`document.querySelector(".col-${column} button").click()`))
      await tab.keyboard.press('/')
      for (const key of ['4', 'Backspace', '4', 'Backspace', '4']) await note('filter', () => tab.keyboard.press(key))
      await tab.getByText(`176 of ${PODS} pods`).waitFor()
      await tab.keyboard.press('Escape')
      for (let index = PODS; index < PODS + 5; index += 1)
        await note('change', async () => {
          await addPod(index)
          await tab.getByText(`${index + 1} pods`).waitFor()
        })
      // Other work of the machine makes each of them dearer, and none cheaper.
      for (const [kind, all] of Object.entries(costs))
        assert.ok(Math.min(...all) < LONG_MS, `${kind}: ${JSON.stringify(costs)}`)
      assert.deepEqual(faults, [])
      await tab.close()
    })
  })
})

const DRAWN = 'new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))'

/** Reads the CPU time of the page's own thread, in milliseconds. */
async function openCpuMeter(tab: Page): Promise<() => Promise<number>> {
  const session = await browser.context.newCDPSession(tab)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000
  }
}
