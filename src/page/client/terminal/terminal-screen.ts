import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import { allowTerminalStyles } from './allow-terminal-styles.ts'

export interface Screen {
  write(bytes: Uint8Array): void
  /** A line of the page itself. */
  note(text: string): void
  focus(): void
  dispose(): void
  readonly size: { readonly cols: number; readonly rows: number }
}

export interface ScreenEvents {
  readonly onInput: (text: string) => void
  readonly onResize: (size: { readonly cols: number; readonly rows: number }) => void
  /** The keys that leave the terminal were pressed. */
  readonly onLeave: () => void
}

const SCROLLBACK = 5000
const FONT = "ui-monospace, 'SF Mono', 'DejaVu Sans Mono', Menlo, monospace"
/** The most output that waits to be drawn; what a faster program writes is cut. */
const MOST_WAITING_BYTES = 4 * 1024 * 1024
// Titles, colours of the page's choice, links, the clipboard, files: a program in a container gets none of it.
const IGNORED_COMMANDS = [0, 1, 2, 4, 5, 7, 8, 9, 10, 11, 12, 52, 104, 110, 111, 112, 633, 777, 1337]

/** Draws what a program writes to its terminal. Its escape sequences move the cursor and colour the text, and do nothing else. */
export function openScreen(box: HTMLElement, events: ScreenEvents, isForReaders: boolean): Screen {
  allowTerminalStyles()
  const terminal = new Terminal({
    cursorBlink: false,
    fontFamily: FONT,
    fontSize: 13,
    scrollback: SCROLLBACK,
    minimumContrastRatio: 4.5,
    screenReaderMode: isForReaders,
    linkHandler: { activate: () => {} },
    windowOptions: {},
    theme: readTheme(),
  })
  for (const command of IGNORED_COMMANDS) terminal.parser.registerOscHandler(command, () => true)
  const fit = new FitAddon()
  terminal.loadAddon(fit)
  terminal.open(box)
  fit.fit()
  terminal.onData(events.onInput)
  terminal.onResize(events.onResize)
  terminal.attachCustomKeyEventHandler((event) => {
    if (!(event.ctrlKey && event.shiftKey && event.key === 'ArrowUp')) return true
    if (event.type === 'keydown') events.onLeave()
    return false
  })
  const observer = new ResizeObserver(() => fit.fit())
  observer.observe(box)
  const stopTheme = followTheme(() => (terminal.options.theme = readTheme()))
  const paste = (event: ClipboardEvent) => pasteText(terminal, event)
  box.addEventListener('paste', paste, { capture: true })
  let waiting = 0
  let isSkipping = false
  return {
    write(bytes) {
      if (waiting + bytes.length > MOST_WAITING_BYTES) {
        if (!isSkipping) terminal.write('\r\n[output was skipped]\r\n')
        isSkipping = true
        return
      }
      isSkipping = false
      waiting += bytes.length
      terminal.write(bytes, () => (waiting -= bytes.length))
    },
    note: (text) => terminal.write(`\u001B[0m\r\n[${text}]\r\n`),
    focus: () => terminal.focus(),
    get size() {
      return { cols: terminal.cols, rows: terminal.rows }
    },
    dispose() {
      observer.disconnect()
      stopTheme()
      box.removeEventListener('paste', paste, { capture: true })
      terminal.dispose()
    },
  }
}

/** What is pasted is text: an escape sequence in it could end the paste and be taken for keys that were pressed. */
function pasteText(terminal: Terminal, event: ClipboardEvent): void {
  event.preventDefault()
  event.stopPropagation()
  const text = event.clipboardData?.getData('text/plain') ?? ''
  terminal.paste(text.replaceAll(/[^\P{Cc}\t\r\n]/gu, ''))
}

function readTheme() {
  const styles = getComputedStyle(document.documentElement)
  const colour = (name: string) => styles.getPropertyValue(name).trim()
  const ink = colour('--ink')
  return {
    background: colour('--paper'),
    foreground: ink,
    cursor: ink,
    cursorAccent: colour('--paper'),
    selectionBackground: colour('--select'),
  }
}

function followTheme(onChange: () => void): () => void {
  const query = matchMedia('(prefers-color-scheme: dark)')
  query.addEventListener('change', onChange)
  return () => query.removeEventListener('change', onChange)
}
