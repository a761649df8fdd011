import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { PageMessage, PodRow } from '../../src/page/messages/page-message.ts'
import { addRunningPod } from './add-running-pod.ts'
import { TestPage } from '../component/page/start-page.ts'
import { findBarriers } from './find-barriers.ts'
import { openBrowser } from './open-browser.ts'
import type { TestBrowser } from './open-browser.ts'

const SCRIPT = '<img src=x onerror=alert(1)><script>alert(2)</script>'

let page: TestPage
const addPod = (name: string, status?: object) => addRunningPod(page.api, name, status)
let browser: TestBrowser

describe('the page in a browser', () => {
  before(async () => {
    ;[page, browser] = await Promise.all([TestPage.start({ isBuilt: true }), openBrowser()])
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await page[Symbol.asyncDispose]()
  })

  test('a link signs in once; the address has no token, no script can read the cookie', async () => {
    await addPod('web')
    const { tab, faults } = await browser.open()
    const link = page.link()
    await tab.goto(link)
    await tab.getByRole('link', { name: 'default/web' }).waitFor()
    assert.equal(tab.url(), `${page.address}/`)
    assert.equal(await tab.evaluate('document.cookie'), '')
    assert.equal(await tab.evaluate('JSON.stringify(performance.getEntries()).includes("token=")'), false)
    await tab.getByText('live', { exact: true }).waitFor()
    // What comes later is loaded when it is needed.
    const sent = await tab.evaluate(
      'performance.getEntries().reduce((sum, { transferSize = 0 }) => sum + transferSize, 0)',
    )
    assert.ok(Number(sent) > 10_000 && Number(sent) < 200_000, `the first screen took ${String(sent)} bytes`)
    assert.deepEqual(faults, [])
    await tab.goto(link)
    await tab.getByText('This link was used already').waitFor()
    await tab.close()
  })

  test('shows what a pod controls as text, whatever is in it', async () => {
    const uid = await addPod('hostile', {
      phase: 'Failed',
      reason: SCRIPT,
      message: SCRIPT,
      containerStatuses: [
        {
          name: 'main',
          ready: false,
          restartCount: 3,
          image: SCRIPT,
          imageID: SCRIPT,
          state: { waiting: { reason: SCRIPT, message: `${SCRIPT}\u001B[2J\u202E` } },
          lastState: { terminated: { exitCode: 1, reason: SCRIPT, message: SCRIPT } },
        },
      ],
    })
    const steps = [{ name: SCRIPT, startedAt: Date.now(), ms: 5, error: SCRIPT }]
    page.agent.pods = [{ uid, why: SCRIPT, steps }]
    page.agent.manifests = [{ file: SCRIPT, line: 1, object: SCRIPT, reason: SCRIPT }]
    const { api } = page
    const event = {
      involvedObject: { kind: 'Pod', name: 'hostile', namespace: 'default' },
      reason: SCRIPT,
      message: SCRIPT,
    }
    await api.call(api.admin, 'POST', '/api/v1/namespaces/default/events', { metadata: { name: 'h' }, ...event })
    const { tab, faults } = await browser.open()
    await tab.route('**/pods/hostile/log?**', (route) => route.fulfill({ body: SCRIPT }))
    await tab.goto(page.address)
    await tab.getByRole('link', { name: 'default/hostile' }).waitFor()
    await tab.locator('.events .message', { hasText: '<script>' }).waitFor()
    await tab.locator('.refused', { hasText: '<script>' }).waitFor()
    await tab.getByRole('link', { name: 'default/hostile' }).click()
    await tab.locator('.steps .error', { hasText: '<script>' }).waitFor()
    await tab.locator('.last-lines', { hasText: '<script>' }).waitFor()
    await tab.getByRole('link', { name: 'YAML' }).click()
    await tab.locator('.code', { hasText: 'phase: Failed' }).waitFor()
    assert.equal(await tab.locator('img, body script').count(), 0)
    assert.deepEqual(faults, [])
    await tab.close()
  })

  test('has no serious barrier, in both colours', async () => {
    const { tab } = await browser.open()
    const visits = [
      ['/', 'light'],
      ['/pods/default/hostile', 'dark'],
      ['/pods/default/web/logs', 'light'],
    ] as const
    for (const [path, colorScheme] of visits) {
      await tab.emulateMedia({ colorScheme })
      await tab.goto(`${page.address}${path}`)
      await tab.getByText('live', { exact: true }).waitFor()
      await tab.locator('tbody tr, .log-box').first().waitFor()
      assert.deepEqual(await findBarriers(tab), [], `${path} ${colorScheme}`)
    }
    await tab.close()
  })

  test('is driven by the keyboard: filter, arrows, Enter', async () => {
    const { tab, faults } = await browser.open()
    await tab.goto(page.address)
    await tab.getByRole('link', { name: 'default/web' }).waitFor()
    await tab.keyboard.press('/')
    await tab.keyboard.type('web')
    await tab.getByText(/^1 of \d+ pods$/).waitFor()
    await tab.keyboard.press('ArrowDown')
    await tab.keyboard.press('Enter')
    await tab.waitForURL(`${page.address}/pods/default/web`)
    await tab.getByRole('heading', { name: 'default/web' }).waitFor()
    await tab.goBack()
    await tab.getByRole('button', { name: 'Restarts' }).click()
    await tab.locator('tbody tr').first().getByText('default/hostile').waitFor()
    assert.deepEqual(faults, [])
    await tab.close()
  })

  test('draws of 500 pods those that are seen', async () => {
    const rows = Array.from({ length: 500 }, (_, index): PodRow => {
      const name = `pod-${String(index).padStart(3, '0')}`
      const state = {
        status: 'Running',
        phase: 'Running',
        ready: 1,
        containers: 1,
        isReady: true,
        isRejected: false,
        restarts: 0,
      }
      return { uid: name, namespace: 'default', name, ...state, created: '2026-01-01T00:00:00Z', address: '', note: '' }
    })
    const uses = Object.fromEntries(
      rows.map(({ uid }) => [uid, Array.from({ length: 30 }, () => [0.01, 1e6] as const)]),
    )
    const messages: readonly PageMessage[] = [
      { kind: 'pods', rows },
      { kind: 'history', node: [], pods: uses },
    ]
    const body = messages.map((message) => `${JSON.stringify(message)}\n`).join('')
    const { tab } = await browser.open()
    await tab.route('**/live', (route) => route.fulfill({ body, contentType: 'application/x-ndjson' }))
    await tab.goto(page.address)
    await tab.getByText('500 pods').waitFor()
    assert.ok((await tab.locator('tbody tr').count()) < 80)
    await tab.getByRole('region', { name: /^Pods: arrow keys/ }).focus()
    await tab.keyboard.press('End')
    await tab.getByRole('link', { name: 'default/pod-499' }).waitFor()
    await tab.keyboard.press('Enter')
    await tab.waitForURL(`${page.address}/pods/default/pod-499`)
    await tab.close()
  })

  test('says that the connection is lost, tries again by itself, and asks a new server for a new session', async () => {
    const { tab } = await browser.open()
    await tab.goto(page.address)
    await tab.getByText('live', { exact: true }).waitFor()
    await page.stop()
    await tab.getByText('connection lost, trying again…').waitFor()
    // Sessions end with the server.
    await page.serve()
    await tab.getByText('You are not signed in').waitFor()
    await tab.goto(page.link())
    await tab.getByText('live', { exact: true }).waitFor()
    await tab.close()
  })
})
