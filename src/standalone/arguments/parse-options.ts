import { parseArgs } from 'node:util'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { exitCodes, NodeError } from '../node/node-error.ts'

export const DEFAULT_STATE = '/var/lib/deckhand'

/** An option with a value. */
export const textOption = { type: 'string' } as const

/** The options of a command that takes nothing else. */
export function parse<T extends Record<string, { readonly type: 'string' | 'boolean'; readonly short?: string }>>(
  args: readonly string[],
  options: T,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: false, strict: true }).values
  } catch (error) {
    throw wrong(`Cannot read the arguments: ${errorMessage(error)}`)
  }
}

/** Options that are texts, and the names between them. */
export function parseNamed(
  args: readonly string[],
  options: Readonly<Record<string, { readonly type: 'string'; readonly short?: string }>>,
): { readonly values: Readonly<Record<string, string | undefined>>; readonly names: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
    return { values, names: positionals }
  } catch (error) {
    throw wrong(`Cannot read the arguments: ${errorMessage(error)}`)
  }
}

export function parsePort(name: string, value: string): number {
  const port = Number(value)
  if (/^\d{1,5}$/.test(value) && port >= 1 && port <= 65_535) return port
  throw wrong(`Cannot use --${name} "${value}": expected a number from 1 to 65535`)
}

export function wrong(message: string): NodeError {
  return new NodeError(message, exitCodes.wrongArguments)
}
