import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import { CHROMIUM, openBrowser } from '../../browser/open-browser.ts'
import type { TestBrowser } from '../../browser/open-browser.ts'
import { notInCluster, StandaloneNode } from '../support/standalone-node.ts'
import { testContainer, testPod } from '../support/test-pod.ts'

const deckhand = fileURLToPath(new URL('../../../bin/deckhand', import.meta.url))

/** Small files, looked after as often as it is allowed. */
const LOG_SETTINGS = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerLogMaxSize: 1Ki
containerLogMaxFiles: 3
containerLogMonitorInterval: 3s
`
const TALK = 'i=0; while ! [ -e /stop ]; do i=$((i + 1)); echo line $i; usleep 20000; done; echo the end; sleep 1000'
const SERVE = 'mkdir /www; echo "<title>of the pod</title>hello" > /www/index.html; exec httpd -f -p 8080 -h /www'
const PODS = [
  testPod('web', { containers: [testContainer('main', SERVE, { ports: [{ containerPort: 8080 }] })] }),
  testPod('crash', { containers: [testContainer('main', 'echo the disk is gone; exit 3')] }),
  testPod('talk', { containers: [testContainer('main', TALK)] }),
]

const LABELLED = (colour: string) => testPod('dropped', {}, { labels: { colour } })

describe('the page of a node', { skip: notInCluster('the page is of "deckhand up"'), timeout: 240_000 }, () => {
  const cleanup = new AsyncDisposableStack()
  let node: StandaloneNode
  let browser: TestBrowser
  let address = ''
  before(async () => {
    node = await StandaloneNode.start(({ folder }) => {
      mkdirSync(`${folder}/state/kubelet.conf.d`, { recursive: true })
      writeFileSync(`${folder}/state/kubelet.conf.d/logs.conf`, LOG_SETTINGS)
      return {}
    })
    cleanup.use(node)
    await node.apply(...PODS)
    // The page is on the loopback of the lab, so that is where the browser has to be.
    const inside = `${node.lab.folder}/chromium`
    writeFileSync(inside, `#!/bin/sh\nexec ${node.lab.enter.join(' ')} ${CHROMIUM} "$@"\n`)
    chmodSync(inside, 0o755)
    browser = await openBrowser({}, inside)
    cleanup.use(browser)
  })
  after(async () => await cleanup.disposeAsync())

  const rowOf = (tab: Page, pod: string) => tab.locator('#pods tbody tr', { hasText: `default/${pod}` })

  async function open(path: string) {
    const { tab, faults } = await browser.open()
    await tab.goto(`${address}${path}`)
    await tab.getByText('live', { exact: true }).waitFor()
    return { tab, faults }
  }

  test('the printed link signs in; real pods are shown with what they use, a crash loop with its cause', async () => {
    const { stdout, exitCode } = await node.deckhand('page')
    assert.equal(exitCode, 0)
    const { tab, faults } = await browser.open()
    await tab.goto(stdout.trim())
    address = new URL(tab.url()).origin
    await rowOf(tab, 'web').getByText('Running').waitFor()
    await tab.getByText('Ready: True').waitFor()
    await rowOf(tab, 'crash').locator('.col-status', { hasText: 'CrashLoopBackOff' }).waitFor()
    await rowOf(tab, 'crash').getByText('last exited with 3').waitFor()
    // Measured by the agent.
    await rowOf(tab, 'web').locator('.col-memory', { hasText: 'iB' }).waitFor()
    await rowOf(tab, 'crash').getByRole('link').click()
    await tab.locator('.summary', { hasText: 'CrashLoopBackOff' }).waitFor()
    await tab.getByLabel('Last lines of main').getByText('the disk is gone').waitFor()
    await tab.getByText('exit 3').first().waitFor()
    await tab.locator('.steps rect').first().waitFor()
    assert.deepEqual(faults, [])
    await tab.close()
  })

  test('a log is followed through a rotation, and no line is missing', async (t) => {
    if (node.lab.runtime.name === 'docker') return t.skip('Docker rotates the logs itself')
    const talk = await node.ready('talk')
    const { tab, faults } = await open('/pods/default/talk/logs')
    await tab.getByText('· following').waitFor()
    const folder = `${node.state}/logs/pods/default_talk_${talk.metadata.uid}/main`
    const rotated = () => readdirSync(folder).filter((name) => /^0\.log\.\d{8}-\d{6}/.test(name))
    const before = new Set(rotated())
    await node.waitFor('a rotation', () => Promise.resolve(rotated().some((name) => !before.has(name))))
    await node.runIn(talk, 'touch', '/stop')
    const box = tab.getByRole('region', { name: 'Log of main' })
    // It is where the view follows to.
    await box.getByText('the end').waitFor()
    const [, last = ''] = /line (\d+)\s+the end\s*$/.exec(await box.innerText()) ?? []
    // Before the first line that is drawn there is no room for others.
    await node.waitFor('the first line', async () => {
      const top =
        'const box = document.querySelector(".log-box"); box.scrollTo(0, 0); box.firstElementChild.offsetHeight'
      return (await tab.evaluate(`{ ${top} }`)) === 0
    })
    const [, first = ''] = /^\s*line (\d+)/.exec(await box.innerText()) ?? []
    const count = Number(last) - Number(first) + 2
    await tab.getByRole('status').getByText(`${count} lines · following`).waitFor()
    assert.deepEqual(faults, [])
    await tab.close()
  })

  test('a terminal runs a program that draws the whole screen, and knows its size', async () => {
    const { tab, faults } = await open('/pods/default/web/terminal')
    await tab.getByRole('button', { name: 'Open a terminal' }).click()
    await tab.getByText('connected; Ctrl+Shift+↑').waitFor()
    const rows = tab.locator('.xterm-rows')
    const says = async (expected: RegExp) =>
      await node.waitFor(`the terminal to show ${expected}`, async () => expected.exec(await rows.innerText()) ?? false)
    const size = async (word: string) => {
      await tab.keyboard.type(`echo ${word} $(stty size)\n`)
      const [, height, width] = await says(new RegExp(`^${word} (\\d+) (\\d+)`, 'm'))
      return { height: Number(height), width: Number(width) }
    }
    const large = await size('large')
    await tab.keyboard.type('vi /tmp/letter\n')
    await says(/^~$/m)
    await tab.keyboard.type('iDear page')
    await tab.keyboard.press('Escape')
    // It begins with I while text goes in. What follows the key at once would be part of it.
    await says(/^- .*letter/m)
    assert.doesNotMatch((await says(/^Dear page/m)).input, /^large /m)
    await tab.keyboard.type(':wq\n')
    // What was there before the program took the whole screen is there again.
    await says(/^large /m)
    await tab.setViewportSize({ width: 700, height: 600 })
    const small = await node.waitFor('the other size', async () => {
      const now = await size(`small-${Date.now()}`)
      return now.width < large.width && now.height < large.height && now
    })
    assert.ok(small.width > 20 && small.height > 5, JSON.stringify(small))
    await tab.keyboard.type('cat /tmp/letter; exit 7\n')
    await tab.getByRole('status').getByText('ended with exit code 7').waitFor()
    await says(/^Dear page/m)
    assert.deepEqual(faults, [])
    await tab.close()
  })

  test('a dropped file is applied after its difference was shown, and the pod is deleted', async () => {
    const { tab, faults } = await open('/')
    await tab.getByRole('button', { name: 'Apply a file…' }).waitFor()
    const first = await drop(tab, JSON.stringify(LABELLED('red')))
    await first.getByText('Pod default/dropped will be created').waitFor()
    await first.getByRole('button', { name: 'Apply' }).click()
    await first.getByText('applied').waitFor()
    await first.getByRole('button', { name: 'Close' }).click()
    await rowOf(tab, 'dropped').getByText('Running').waitFor()
    const second = await drop(tab, JSON.stringify(LABELLED('blue')))
    await second.locator('del', { hasText: 'colour: red' }).waitFor()
    await second.locator('ins', { hasText: 'colour: blue' }).waitFor()
    await second.getByRole('button', { name: 'Apply' }).click()
    await second.getByText('applied').waitFor()
    await second.getByRole('button', { name: 'Close' }).click()
    const { labels = {} } = (await node.ready('dropped')).metadata
    assert.equal(labels['colour'], 'blue')
    await rowOf(tab, 'dropped').getByRole('link').click()
    await tab.waitForURL(`${address}/pods/default/dropped`)
    await tab.getByRole('button', { name: 'Delete…' }).click()
    await tab.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await tab.getByText('There is no such pod (any more).').waitFor()
    await node.gone('dropped')
    assert.deepEqual(
      faults.filter((fault) => !/status of 404/.test(fault)),
      [],
    )
    await tab.close()
  })

  test('a port is forwarded to another host, which has nothing of the page', async () => {
    const { tab, faults } = await open('/pods/default/web')
    await tab.getByRole('button', { name: 'Forward port 8080' }).click()
    const link = tab.getByRole('link', { name: /^127\.0\.0\.2:\d+$/ })
    const [other] = await Promise.all([browser.context.waitForEvent('page'), link.click()])
    await other.waitForURL(/^http:\/\/127\.0\.0\.2:/)
    await other.getByText('hello').waitFor()
    assert.equal(await other.evaluate('document.cookie + String(opener)'), 'null')
    assert.deepEqual(await browser.context.cookies(other.url()), [])
    await tab.getByRole('button', { name: 'Stop forwarding port 8080' }).click()
    await link.waitFor({ state: 'detached' })
    await assert.rejects(other.reload(), /ERR_CONNECTION_REFUSED/)
    await other.close()
    assert.deepEqual(faults, [])
    await tab.close()
  })

  test('the port of a kubelet alone has a page: pods with their usage, a terminal, no events and no buttons', async () => {
    const kubeconfig = `${node.lab.folder}/kubelet.kubeconfig`
    const text = readFileSync(`${node.state}/admin.kubeconfig`, 'utf8')
    const name = (await node.node()).metadata?.name ?? ''
    writeFileSync(kubeconfig, text.replace(/^( *)server: .*$/m, `$&\n$1tls-server-name: ${name}`))
    const log = `${node.lab.folder}/kubelet-page.log`
    const argv = [deckhand, 'page', '--kubeconfig', kubeconfig, '--kubelet', '127.0.0.1']
    await node.lab.startInside(argv, log)
    const [link] = await node.waitFor('the link', () =>
      Promise.resolve(/http:\S+/.exec(readFileSync(log, 'utf8')) ?? false),
    )
    const { tab, faults } = await browser.open()
    await tab.goto(link)
    await tab.getByText('This page asks a kubelet alone').waitFor()
    await rowOf(tab, 'crash').getByText('last exited with 3').waitFor()
    await rowOf(tab, 'web').locator('.col-memory', { hasText: 'iB' }).waitFor()
    assert.equal(await tab.getByRole('heading', { name: 'Events' }).count(), 0)
    assert.equal(await tab.getByRole('group', { name: 'Actions' }).count(), 0)
    await rowOf(tab, 'web').getByRole('link').click()
    await tab.getByRole('link', { name: 'Terminal' }).click()
    await tab.getByRole('button', { name: 'Open a terminal' }).click()
    await tab.getByText('connected; Ctrl+Shift+↑').waitFor()
    await tab.keyboard.type('ls /www\n')
    await tab.locator('.xterm-rows').getByText('index.html').waitFor()
    assert.deepEqual(faults, [])
    await tab.close()
  })

  test('a connection that is cut, and an agent that is killed, are back without a reload', async () => {
    const { tab } = await open('/')
    await tab.evaluate('window.isTheSame = true')
    const nft = async (...args: readonly string[]) => {
      const { exitCode, stderr } = await node.lab.runInside(['nft', ...args])
      assert.equal(exitCode, 0, stderr)
    }
    await nft(
      `table inet cut { chain input { type filter hook input priority -10; tcp dport ${new URL(address).port} reject with tcp reset; }; }`,
    )
    await tab.getByText('connection lost, trying again…').waitFor()
    await node.apply(testPod('meanwhile'))
    await node.ready('meanwhile')
    await nft('delete', 'table', 'inet', 'cut')
    await tab.getByText('live', { exact: true }).waitFor()
    await rowOf(tab, 'meanwhile').getByText('Running').waitFor()
    await node.killAgent()
    await node.apply(testPod('later'))
    await rowOf(tab, 'later').getByText('Running').waitFor()
    // By the agent that is there now.
    await rowOf(tab, 'later').getByText('Runs').waitFor()
    assert.equal(await tab.getByRole('alert').count(), 0)
    assert.equal(await tab.evaluate('window.isTheSame'), true)
    await tab.close()
  })
})

async function drop(tab: Page, text: string): Promise<Locator> {
  const dataTransfer = await tab.evaluateHandle(`{
    const transfer = new DataTransfer()
    transfer.items.add(new File([${JSON.stringify(text)}], 'file.json'))
    transfer
  }`)
  await tab.dispatchEvent('main', 'dragover', { dataTransfer })
  await tab.getByText('Drop the file to see what it would change.').waitFor()
  await tab.dispatchEvent('main', 'drop', { dataTransfer })
  return tab.getByRole('dialog')
}
