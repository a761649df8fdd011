import process from 'node:process'
import { createContext, Script } from 'node:vm'

// A pattern of a user may take for ever on a text of another; the one thread of the server must not. On a busy machine most of this time may pass
// while the thread does not run at all, which is no fault of the pattern.
const DEADLINE_MS = 100
const LEAST_CPU_MS = 50
const MOST_TRIES = 10

const sandbox: { pattern?: RegExp; value?: string } = {}
const context = createContext(sandbox)
const script = new Script('pattern.test(value)')
const compiled = new Map<string, RegExp>()
const MAX_COMPILED = 1000

/** A pattern in the syntax of the API, which has no look-around and no references back; undefined when it is none. */
export function compilePattern(pattern: string): RegExp | undefined {
  const found = compiled.get(pattern)
  if (found !== undefined) return found
  if (/\(\?(?:=|!|<=|<!)|\\[1-9]/.test(pattern)) return undefined
  const made = compileWith(toJavaScript(pattern), 'u') ?? compileWith(toJavaScript(pattern), '')
  if (made === undefined) return undefined
  if (compiled.size >= MAX_COMPILED) compiled.clear()
  compiled.set(pattern, made)
  return made
}

function compileWith(pattern: string, flags: string): RegExp | undefined {
  const [, own = ''] = /^\(\?([ims]+)\)/.exec(pattern) ?? []
  try {
    return new RegExp(own === '' ? pattern : pattern.slice(own.length + 3), `${flags}${own}`)
  } catch {
    return undefined
  }
}

const CLASSES: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  digit: '0-9',
  lower: 'a-z',
  space: '\\s',
  upper: 'A-Z',
  word: '\\w',
  xdigit: '0-9A-Fa-f',
}

/** The few spellings that differ. */
function toJavaScript(pattern: string): string {
  return pattern
    .replaceAll(/\[:(\w+):\]/g, (whole, name: string) => CLASSES[name] ?? whole)
    .replaceAll('\\A', '^')
    .replaceAll('\\z', '$')
    .replaceAll('(?P<', '(?<')
}

/** Undefined when it took too long. */
function runScript(): boolean | undefined {
  try {
    return script.runInContext(context, { timeout: DEADLINE_MS }) === true
  } catch {
    return undefined
  }
}

/** Whether a text matches; one that takes too long does not. */
export function matchesPattern(pattern: string, value: string): boolean {
  const compiledPattern = compilePattern(pattern)
  if (compiledPattern === undefined) return false
  sandbox.pattern = compiledPattern
  sandbox.value = value
  try {
    for (let tries = 1; ; tries += 1) {
      const before = process.threadCpuUsage()
      const found = runScript()
      if (found !== undefined) return found
      const { user, system } = process.threadCpuUsage(before)
      if ((user + system) / 1000 >= LEAST_CPU_MS || tries === MOST_TRIES) return false
    }
  } finally {
    delete sandbox.pattern
    delete sandbox.value
  }
}
