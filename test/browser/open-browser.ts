import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'

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
}

/** A headless Chromium with a new profile. The program may be another that starts it somewhere else. */
export async function openBrowser(
  options: BrowserContextOptions = {},
  executablePath = CHROMIUM,
): Promise<TestBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'deckhand-browser-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    args: ARGUMENTS,
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
    async [Symbol.asyncDispose]() {
      await context.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}
