import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { startFakeKubelet } from '../component/api-server/fake-kubelet.ts'
import { TestPage } from '../component/page/start-page.ts'
import { addRunningPod } from './add-running-pod.ts'
import { openBrowser } from './open-browser.ts'
import type { TestBrowser } from './open-browser.ts'

const MERGE = { headers: { 'content-type': 'application/merge-patch+json' } }

let page: TestPage
let browser: TestBrowser
const cleanups: (() => unknown)[] = []
/** The queries, and the answers that are still followed. */
const asked: URLSearchParams[] = []
let followed: ServerResponse | undefined
let isAway = false

describe('the log of a container in a browser', () => {
  before(async () => {
    ;[page, browser] = await Promise.all([TestPage.start({ isBuilt: true }), openBrowser()])
    const { api } = page
    const t = { after: (work: () => unknown) => void cleanups.push(work) }
    const { port } = await startFakeKubelet(t, api.folder, ({ url = '' }, response) => {
      const query = new URL(url, 'https://kubelet.invalid').searchParams
      asked.push(query)
      if (isAway) {
        response.writeHead(500)
        response.end('the agent is away')
        return
      }
      const prefix = query.get('timestamps') === 'true' ? '2026-01-01T00:00:00.000000000Z ' : ''
      const instance = query.get('previous') === 'true' ? 'the one before' : (query.get('stream') ?? 'both streams')
      response.write(`${prefix}${instance}\n${prefix}\u001B[31m<script>alert(1)</script>\u001B]0;title\u0007\n`)
      if (query.get('follow') !== 'true') response.end(`${prefix}all of it\n`)
      else followed = response
    })
    const node = {
      metadata: { name: 'node-1' },
      status: {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: port } },
      },
    }
    assert.equal((await api.call(api.admin, 'POST', '/api/v1/nodes', node)).status, 201)
    await addRunningPod(api, 'web')
    await browser.signIn(page.link())
  })
  after(async () => {
    followed?.end()
    await browser[Symbol.asyncDispose]()
    await page[Symbol.asyncDispose]()
    for (const work of cleanups) await work()
  })

  test('is followed, searched, and read of each stream, with times, and of the instance before', async () => {
    const { tab, faults } = await browser.open()
    await tab.goto(`${page.address}/pods/default/web/logs`)
    await tab.getByText('following').waitFor()
    const box = tab.locator('.log-box')
    await box.getByText('both streams').waitFor()
    await box.getByText('<script>alert(1)</script>', { exact: true }).waitFor()
    followed?.write('a line that comes later\n')
    await box.getByText('a line that comes later').waitFor()
    await tab.getByRole('searchbox').fill('LATER')
    await tab.getByText('1 of 3 lines').waitFor()
    assert.equal(await box.locator('mark').textContent(), 'later')
    await tab.getByRole('searchbox').fill('')
    await tab.getByLabel('Timestamps').check()
    await box.getByText('2026-01-01T00:00:00.000000000Z both streams').waitFor()
    await tab.getByLabel('Timestamps').uncheck()
    await tab.getByLabel('Streams').selectOption('stderr')
    await box.getByText('Stderr', { exact: true }).waitFor()
    assert.equal(asked.at(-1)?.get('tailLines'), null)
    await tab.getByLabel('Streams').selectOption('stdout and stderr')
    await tab.getByLabel('Previous instance').check()
    await box.getByText('the one before').waitFor()
    await box.getByText('all of it').waitFor()
    assert.deepEqual(faults, [])
    await tab.close()
  })

  test('is read further back when that is asked for, and then searched there too', async () => {
    const { tab, faults } = await browser.open()
    const all = Array.from({ length: 3000 }, (_, index) => `line ${index + 1}`)
    await tab.route('**/pods/web/log?**', (route) => {
      const count = Number(new URL(route.request().url()).searchParams.get('tailLines'))
      return route.fulfill({ body: `${all.slice(-count).join('\n')}\n` })
    })
    await tab.goto(`${page.address}/pods/default/web/logs`)
    await tab.getByText('the last 2000 lines').waitFor()
    await tab.getByRole('searchbox').fill('line 7')
    await tab.getByText('0 of the last 2000 lines').waitFor()
    await tab.getByRole('button', { name: 'Earlier lines' }).click()
    await tab.getByText('111 of 3000 lines').waitFor()
    await tab.getByRole('searchbox').fill('')
    await tab.locator('.log-box').getByText('line 3000').waitFor()
    assert.equal(await tab.getByRole('button', { name: 'Earlier lines' }).count(), 0)
    assert.deepEqual(faults, [])
    await tab.close()
  })

  test('is saved whole, as it is', async () => {
    const { tab } = await browser.open()
    await tab.goto(`${page.address}/pods/default/web/logs`)
    await tab.getByText('following').waitFor()
    const [download] = await Promise.all([
      tab.waitForEvent('download'),
      tab.getByRole('button', { name: 'Download' }).click(),
    ])
    assert.equal(download.suggestedFilename(), 'web-main.log')
    const saved = await readFile(await download.path(), 'utf8')
    assert.equal(saved, 'both streams\n\u001B[31m<script>alert(1)</script>\u001B]0;title\u0007\nall of it\n')
    assert.deepEqual([asked.at(-1)?.get('tailLines'), asked.at(-1)?.get('follow')], [null, null])
    await tab.close()
  })

  test('goes on with the next instance, and after a connection that broke', async () => {
    const { api } = page
    const { tab } = await browser.open()
    await tab.goto(`${page.address}/pods/default/web/logs`)
    const box = tab.locator('.log-box')
    await tab.getByText('following').waitFor()
    const path = '/api/v1/namespaces/default/pods/web/status'
    const report = async (state: object, id: number) => {
      const status = { name: 'main', ready: true, restartCount: 1, image: 'a', imageID: 'a', state }
      const containerStatuses = [{ ...status, containerID: `containerd://${id}` }]
      await api.call({ ...api.node, ...MERGE }, 'PATCH', path, { status: { containerStatuses } })
    }
    let before = asked.length
    await report({ terminated: { exitCode: 0 } }, 1)
    while (asked.length === before) await tab.waitForTimeout(20)
    await tab.getByText('following').waitFor()
    followed?.end('the last words\n')
    await tab.getByText('the container has ended').waitFor()
    await report({ running: {} }, 2)
    await box.getByText('the container was started again').waitFor()
    await box.getByText('the last words').waitFor()
    await tab.getByText('following').waitFor()
    before = asked.length
    followed?.destroy()
    await tab.getByText('following').waitFor()
    while (asked.length === before) await tab.waitForTimeout(20)
    await box.getByText('both streams').last().waitFor()
    // An agent that is away comes back: what was read stays until then.
    isAway = true
    followed?.end()
    await tab.getByText(/2 lines · .*trying again/).waitFor()
    isAway = false
    await tab.getByText('following').waitFor()
    followed?.write(`${'x'.repeat(5000)}\n`)
    await box.getByText(/x … 1000 more characters$/).waitFor()
    await tab.close()
  })

  test('of a container that never ran says so', async () => {
    const { api } = page
    const spec = { schedulingGates: [{ name: 'example.com/later' }], containers: [{ name: 'main', image: 'a' }] }
    const pod = { metadata: { name: 'waiting' }, spec }
    assert.equal((await api.call(api.admin, 'POST', '/api/v1/namespaces/default/pods', pod)).status, 201)
    const { tab } = await browser.open()
    await tab.goto(`${page.address}/pods/default/waiting/logs`)
    await tab.getByText('0 lines · the container has not started').waitFor()
    await tab.close()
  })
})
