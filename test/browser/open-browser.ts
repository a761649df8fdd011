import { after } from 'node:test'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'

/** Debian's. */
export const CHROMIUM = '/usr/bin/chromium'

// It asks no host of its maker for anything, and as root it has no sandbox of its own.
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export interface TestBrowser extends AsyncDisposable {
  readonly context: BrowserContext
  /** A new tab, and all that went wrong in it: errors of scripts, and what its policy did not allow. */
  open(): Promise<{ readonly tab: Page; readonly faults: readonly string[] }>
  /** Opens the link that "deckhand page" prints, once: what it gives belongs to the profile, for all tabs. */
  signIn(link: string): Promise<void>
}

const launch = (executablePath: string) => chromium.launch({ executablePath, headless: true, args: ARGUMENTS })

/** One for all files of the process: its start takes as long as many tests. */
let shared: Promise<Browser> | undefined
after(async () => await (await shared)?.close())

/** A new profile in a headless Chromium. The program may be another that starts one of its own somewhere else. */
export async function openBrowser(options: BrowserContextOptions = {}, program = CHROMIUM): Promise<TestBrowser> {
  const isShared = program === CHROMIUM
  const browser = await (isShared ? (shared ??= launch(CHROMIUM)) : launch(program))
  const context = await browser.newContext({
    locale: 'en-GB',
    viewport: { width: 1280, height: 900 },
    ...options,
  })
  return {
    context,
    async open() {
      const tab = await context.newPage()
      const faults: string[] = []
      tab.on('pageerror', (error) => faults.push(String(error.stack ?? error)))
      tab.on('console', (message) => {
        if (message.type() === 'error') faults.push(message.text())
      })
      tab.on('dialog', (dialog) => {
        faults.push(`dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      return { tab, faults }
    },
    async signIn(link) {
      const tab = await context.newPage()
      await tab.goto(link)
      await tab.getByText('live', { exact: true }).waitFor()
      await tab.close()
    },
    async [Symbol.asyncDispose]() {
      await context.close()
      if (!isShared) await browser.close()
    },
  }
}
