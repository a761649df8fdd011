import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { WebSocketConnection } from '../../src/protocols/streams/websocket/websocket-connection.ts'
import { formatHandshake } from '../../src/protocols/streams/websocket/websocket-handshake.ts'
import { startFakeKubelet } from '../component/api-server/fake-kubelet.ts'
import { TestPage } from '../component/page/start-page.ts'
import { addRunningPod } from './add-running-pod.ts'
import { findBarriers } from './find-barriers.ts'
import { openBrowser } from './open-browser.ts'
import type { TestBrowser } from './open-browser.ts'

const SIZE_CHANNEL = 4

/** The other end of a terminal: what a program in a container would be. */
class Program {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly sizes: { readonly Width: number; readonly Height: number }[] = []
  readonly #connection: WebSocketConnection
  readonly #socket: Duplex
  #typed = ''
  #changed = Promise.withResolvers<void>()

  constructor(request: IncomingMessage, socket: Duplex, head: Buffer) {
    this.path = request.url ?? ''
    this.headers = request.headers
    this.#socket = socket
    this.#connection = new WebSocketConnection(socket, head)
    void this.#read().catch(() => {})
  }

  async write(text: string, channel = 1): Promise<void> {
    await this.#connection.send(Uint8Array.of(channel), Buffer.from(text))
  }

  /** Waits until what was typed, or the size, is as wanted. */
  async until(isWanted: (typed: string, size: Program['sizes'][number] | undefined) => boolean): Promise<void> {
    while (!isWanted(this.#typed, this.sizes.at(-1))) await this.#changed.promise
  }

  /** The connection is gone, without a word. */
  break(): void {
    this.#socket.destroy()
  }

  async end(status: object): Promise<void> {
    await this.write(JSON.stringify(status), 3)
    this.#connection.close('normal')
  }

  async #read(): Promise<void> {
    let message = Buffer.alloc(0)
    for await (const piece of this.#connection.pieces()) {
      message = Buffer.concat([message, piece.bytes])
      if (!piece.last) continue
      const text = message.subarray(1).toString('utf8')
      if (message[0] === 0) this.#typed += text
      if (message[0] === SIZE_CHANNEL) this.sizes.push(JSON.parse(text) as Program['sizes'][number])
      message = Buffer.alloc(0)
      this.#changed.resolve()
      this.#changed = Promise.withResolvers()
    }
  }
}

let page: TestPage
let browser: TestBrowser
let started = Promise.withResolvers<Program>()
const cleanups: (() => unknown)[] = []

function serve(request: IncomingMessage, socket: Duplex, head: Buffer): void {
  socket.write(formatHandshake(request.headers, 'v5.channel.k8s.io'))
  started.resolve(new Program(request, socket, head))
  started = Promise.withResolvers()
}

/** Presses where the text is drawn. By place, since a row is drawn again when the pointer comes over it: no element lasts. */
async function pressText(tab: Page, text: string): Promise<void> {
  const place = (await tab.evaluate(`(() => {
    const wanted = ${JSON.stringify(text)}
    const texts = document.createTreeWalker(document.querySelector('.xterm-rows'), NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
      const start = texts.currentNode.data.indexOf(wanted)
      if (start < 0) continue
      const range = document.createRange()
      range.setStart(texts.currentNode, start)
      range.setEnd(texts.currentNode, start + wanted.length)
      const { x, y, width, height } = range.getBoundingClientRect()
      return [x + width / 2, y + height / 2]
    }
  })()`)) as [number, number] | undefined
  assert.ok(place, `"${text}" is drawn`)
  await tab.mouse.click(...place)
}

describe('the terminal', { timeout: 120_000 }, () => {
  before(async () => {
    ;[page, browser] = await Promise.all([TestPage.start({ isBuilt: true }), openBrowser()])
    const { api } = page
    const t = { after: (work: () => unknown) => void cleanups.push(work) }
    const { port } = await startFakeKubelet(t, api.folder, (_, response) => response.end(), serve)
    const node = {
      metadata: { name: 'node-1' },
      status: {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: port } },
        declaredFeatures: ['ExtendWebSocketsToKubelet'],
      },
    }
    assert.equal((await api.call(api.admin, 'POST', '/api/v1/nodes', node)).status, 201)
    await addRunningPod(api, 'web')
    await browser.signIn(page.link())
  })
  after(async () => {
    await browser[Symbol.asyncDispose]()
    await page[Symbol.asyncDispose]()
    for (const work of cleanups) await work()
  })

  test('shows what a program draws, takes keys and sizes, and says how it ended', async () => {
    const { tab, faults } = await browser.open()
    await tab.goto(`${page.address}/pods/default/web/terminal`)
    const opening = started.promise
    await tab.getByRole('button', { name: 'Open a terminal' }).click()
    const program = await opening
    assert.equal(program.path, '/exec/default/web/main?input=1&output=1&tty=1&command=%2Fbin%2Fsh')
    // Nothing of the session goes further than the page's own server.
    assert.equal(program.headers.cookie, undefined)
    assert.equal(program.headers['sec-websocket-protocol'], 'v5.channel.k8s.io, v4.channel.k8s.io')
    await program.until((_, size) => size !== undefined)
    await tab.getByText('connected; Ctrl+Shift+↑').waitFor()
    const rows = tab.locator('.xterm-rows')
    await program.write('# \u001B[38;2;200;30;30mred\u001B[0m before\r\n')
    await rows.getByText('before').waitFor()
    // The policy of the page allows no styles as text, and the colours are there all the same.
    const colour = await tab.evaluate(
      'getComputedStyle([...document.querySelectorAll(".xterm-rows span")].find((each) => each.textContent === "red")).color',
    )
    assert.match(String(colour), /^rgb\(2\d\d, \d+, \d+\)$/)
    await program.write('\u001B[?1049h\u001B[2J\u001B[H\u001B[7mEDITOR\u001B[0m\u001B[24;1H~ the last line')
    await rows.getByText('EDITOR').waitFor()
    assert.equal(await rows.getByText('before').count(), 0)
    await tab.keyboard.type('i')
    await tab.keyboard.press('Escape')
    await tab.keyboard.press('ArrowUp')
    await program.until((typed) => typed.endsWith('i\u001B\u001B[A'))
    const { Width: width = 0 } = program.sizes.at(-1) ?? {}
    await tab.setViewportSize({ width: 800, height: 600 })
    await program.until((_, size) => size !== undefined && size.Width < width)
    await program.write('\u001B[?1049l')
    await rows.getByText('before').waitFor()
    assert.deepEqual(await findBarriers(tab), [])
    // A way out for those who have only a keyboard.
    await tab.keyboard.press('Control+Shift+ArrowUp')
    assert.equal(await tab.evaluate('document.activeElement.textContent'), 'Close the terminal')
    const causes = [{ reason: 'ExitCode', message: '3' }]
    await program.end({ status: 'Failure', reason: 'NonZeroExitCode', details: { causes } })
    await tab.getByRole('status').getByText('ended with exit code 3').waitFor()
    assert.deepEqual(faults, [])
    await tab.close()
  })

  test('what a hostile program writes changes nothing but its own text', async () => {
    const { tab, faults } = await browser.open()
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await tab.goto(`${page.address}/pods/default/web/terminal`)
    const opening = started.promise
    await tab.getByRole('button', { name: 'Open a terminal' }).click()
    const program = await opening
    await tab.getByText('connected').waitFor()
    const title = await tab.title()
    await tab.evaluate('navigator.clipboard.writeText("mine")')
    const attacks = [
      '\u001B]0;stolen\u0007\u001B]2;stolen\u0007',
      `\u001B]52;c;${Buffer.from('stolen').toString('base64')}\u0007`,
      '\u001B]8;;https://evil.example/\u0007press me\u001B]8;;\u0007 ',
      '\u001B]1337;File=inline=1:AAAA\u0007\u001B[3t\u001B[21t\u001B[8;500;500t',
      '<img src=x onerror=alert(1)><script>alert(2)</script>',
      ' https://evil.example/plain',
    ]
    await program.write(`${attacks.join('')}\r\ndone`)
    const rows = tab.locator('.xterm-rows')
    await rows.getByText('done').waitFor()
    assert.equal(await tab.title(), title)
    assert.equal(await tab.evaluate('navigator.clipboard.readText()'), 'mine')
    const pages = browser.context.pages().length
    await pressText(tab, 'press me')
    await tab.keyboard.down('Control')
    await pressText(tab, 'evil.example/plain')
    await tab.keyboard.up('Control')
    assert.equal(browser.context.pages().length, pages)
    assert.equal(await tab.locator('.terminal-box img, .terminal-box a, body script').count(), 0)
    await rows.getByText('<script>').waitFor()
    // What is pasted ends no paste and presses no key.
    await program.write('\u001B[?2004hready')
    await rows.getByText('ready').waitFor()
    await tab.evaluate(`
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', 'one\\u001b[201~two')
      const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
      document.querySelector('.xterm-helper-textarea').dispatchEvent(event)
    `)
    await program.until((typed) => typed.endsWith('\u001B[200~one[201~two\u001B[201~'))
    // Far more than can be drawn at once: the page stays alive.
    const flood = 'y'.repeat(64 * 1024)
    for (let count = 0; count < 200; count += 1) await program.write(flood)
    await program.end({ status: 'Success' })
    await tab.getByRole('status').getByText('ended with exit code 0').waitFor()
    assert.deepEqual(faults, [])
    await tab.close()
  })

  test('a connection that breaks is shown as lost, and can be opened again', async () => {
    const { tab } = await browser.open()
    await tab.goto(`${page.address}/pods/default/web/terminal`)
    const button = tab.getByRole('button', { name: 'Open a terminal' })
    const first = started.promise
    await button.click()
    await first
    await tab.getByText('connected').waitFor()
    const second = started.promise
    await tab.getByRole('button', { name: 'Close the terminal' }).click()
    await tab.getByRole('status').getByText('closed').waitFor()
    await button.click()
    const program = await second
    await program.write('again')
    await tab.locator('.xterm-rows').getByText('again').waitFor()
    program.break()
    await tab.getByRole('status').getByText('connection lost').waitFor()
    const third = started.promise
    await button.click()
    await (await third).write('once more')
    await tab.locator('.xterm-rows').getByText('once more').waitFor()
    assert.equal(await tab.locator('.xterm-rows').getByText('again').count(), 0)
    await tab.close()
  })
})
