import { errorMessage } from '../../base/telemetry/error-text.ts'
import { parseGoDuration } from '../../model/config/values/go-duration.ts'
import { parseQuantity, quantityValue } from '../../model/resources/quantity.ts'
import { parseTimeRange } from './parse-time-range.ts'
import { ENDINGS } from './simulation-options.ts'
import type { SimulationOptions } from './simulation-options.ts'

/** The texts of the command line. */
export type SimulationTexts = Readonly<Partial<Record<(typeof SIMULATION_FLAGS)[number], string | undefined>>>

export const SIMULATION_FLAGS = [
  'nodes',
  'kubeconfig',
  'prefix',
  'capacity',
  'labels',
  'taints',
  'start-time',
  'rules',
  'at-end',
  'report-every',
] as const

const CAPACITY = { cpu: '4', memory: '16Gi', pods: '110', 'ephemeral-storage': '100Gi' }
const MOST_NODES = 10_000
const LEAST_REPORT_MS = 1000

/** Checks what was asked for; paths are made whole by the caller. Fails with what is wrong and what was expected. */
export function parseSimulation(texts: SimulationTexts, toPath: (path: string) => string): SimulationOptions {
  const { kubeconfig, rules, prefix = 'simulated-' } = texts
  if (kubeconfig === undefined)
    throw new Error('Cannot simulate nodes: expected --kubeconfig FILE, the cluster that they join')
  if (!/^[a-z0-9]([a-z0-9.-]{0,50})$/.test(prefix))
    throw new Error(`Cannot use --prefix "${prefix}": expected the beginning of names, such as "sim-"`)
  return {
    nodes: parseNodes(texts.nodes),
    kubeconfig: toPath(kubeconfig),
    prefix,
    capacity: parseCapacity(texts.capacity),
    labels: parsePairs('labels', texts.labels ?? ''),
    taints: (texts.taints ?? '').split(',').filter((taint) => taint !== ''),
    startTime: named('start-time', () => parseTimeRange(texts['start-time'] ?? '0s')),
    rules: rules === undefined ? undefined : toPath(rules),
    atEnd: parseEnding(texts['at-end'] ?? 'remove'),
    reportMs: Math.max(
      LEAST_REPORT_MS,
      named('report-every', () => parseGoDuration(texts['report-every'] ?? '10s')),
    ),
  }
}

function parseNodes(text: string | undefined): number {
  const nodes = Number(text)
  if (text !== undefined && /^\d{1,5}$/.test(text) && nodes >= 1 && nodes <= MOST_NODES) return nodes
  throw new Error(`Cannot use --nodes "${text ?? ''}": expected a number from 1 to ${MOST_NODES}`)
}

function parseCapacity(text = ''): SimulationOptions['capacity'] {
  const given = parsePairs('capacity', text)
  for (const [name, amount] of Object.entries(given)) {
    if (!Object.hasOwn(CAPACITY, name))
      throw new Error(`Cannot use --capacity: "${name}" is not known, expected ${Object.keys(CAPACITY).join(', ')}`)
    named('capacity', () => parseQuantity(amount))
  }
  const capacity = { ...CAPACITY, ...given }
  const cpus = quantityValue(parseQuantity(capacity.cpu))
  if (cpus < 1n || cpus > 1024n) throw new Error(`Cannot use --capacity cpu=${capacity.cpu}: expected 1 to 1024`)
  return capacity
}

function parsePairs(flag: string, text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').filter((pair) => pair !== '')
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', value, ...others] = pair.split('=')
      if (name === '' || value === undefined || others.length > 0)
        throw new Error(`Cannot use --${flag} "${pair}": expected pairs such as name=value with commas between them`)
      return [name, value]
    }),
  )
}

function parseEnding(text: string): SimulationOptions['atEnd'] {
  const ending = ENDINGS.find((known) => known === text)
  if (ending !== undefined) return ending
  throw new Error(`Cannot use --at-end "${text}": expected ${ENDINGS.join(', ')}`)
}

function named<T>(flag: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new Error(`Cannot use --${flag}: ${errorMessage(error)}`, { cause: error })
  }
}
