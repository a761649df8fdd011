import { parseArgs } from 'node:util'
import { rows } from './rows.ts'

export interface BenchOptions {
  /** Path of the kubelet to compare with. */
  readonly against: string | undefined
  /** Rows to measure; undefined is all. */
  readonly only: readonly string[] | undefined
  /** What the pods run on. */
  readonly runtime: 'containerd' | 'docker'
  readonly runs: number
  /** The least number of rounds. */
  readonly rounds: number
  /** Rounds go on up to this while a median is not known well enough. */
  readonly mostRounds: number
  /** After so long nothing more is begun. */
  readonly minutes: number
  readonly pods: number
  /** How many fill a node. */
  readonly densePods: number
  /** How many have probes. */
  readonly probedPods: number
  readonly steadyMs: number
  /** For how long pods come and go. */
  readonly rushMs: number
  /** A checkout of an earlier version, whose standalone node is measured too. */
  readonly earlier: string | undefined
  readonly json: string | undefined
  /** Each run is one more line in it. */
  readonly history: string
  /** A history file, with whose last run this one is compared. */
  readonly compare: string | undefined
  readonly help: boolean
}

export const usage = `Measures our kubelet, and another one beside it, on a real containerd or Docker in a lab of its own. Needs root.
Usage: npm run bench -- [options]
  --against PATH   measure this kubelet too and print the ratios
  --only NAME,…    only these measures: ${rows.map(({ name }) => name).join(', ')}
  --runtime NAME   containerd (the default) or docker
  --runs N         how often the short ones are repeated (10)
  --rounds N       how often all is repeated at least, each time in fresh labs, the kubelets taking turns (1)
  --most-rounds N  with --against: measures whose ratio is not known to 5 % with a confidence of 95 % are repeated up
                   to so many rounds (8); else as --rounds
  --minutes N      after so long no measure is begun any more (35)
  --pods N         how many "many pods" are (100), the pods with probes (200) and those of a full node (500)
  --steady N       seconds over which CPU is measured while nothing changes (30)
  --rush N         seconds for which pods of a cluster come and go (300); needs KUBE_BIN, as npm run test:cluster does
  --earlier DIR    a checkout of an earlier version, made with "npm ci": the start of a pod on its standalone node is measured too
  --json FILE      keep the results and every single value here
  --history FILE   one more line in this file, with medians, ratios and intervals (bench-results/history.jsonl)
  --compare FILE   compare with the last run in this history file; fails when a row is worse`

/** Reads the command line; throws with what was expected. */
export function parseOptions(args: readonly string[]): BenchOptions {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      against: text,
      only: text,
      runtime: text,
      runs: text,
      rounds: text,
      minutes: text,
      pods: text,
      steady: text,
      rush: text,
      earlier: text,
      json: text,
      history: text,
      compare: text,
      'most-rounds': text,
      help: { type: 'boolean' },
    },
  })
  const only = values.only?.split(',')
  const unknown = only?.find((name) => !rows.some((row) => row.name === name))
  if (unknown !== undefined) throw new Error(`Cannot measure "${unknown}": expected some of the names in --help`)
  const rounds = parseCount('rounds', values.rounds ?? '1')
  return {
    against: values.against,
    only,
    runtime: parseRuntime(values.runtime ?? 'containerd'),
    runs: parseCount('runs', values.runs ?? '10'),
    rounds,
    mostRounds: Math.max(
      rounds,
      parseCount('most-rounds', values['most-rounds'] ?? (values.against === undefined ? String(rounds) : '8')),
    ),
    minutes: parseCount('minutes', values.minutes ?? '35'),
    pods: parseCount('pods', values.pods ?? '100'),
    densePods: parseCount('pods', values.pods ?? '500'),
    probedPods: parseCount('pods', values.pods ?? '200'),
    steadyMs: parseCount('steady', values.steady ?? '30') * 1000,
    rushMs: parseCount('rush', values.rush ?? '300') * 1000,
    earlier: values.earlier,
    json: values.json,
    history: values.history ?? 'bench-results/history.jsonl',
    compare: values.compare,
    help: values.help ?? false,
  }
}

function parseCount(name: string, text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new Error(`Cannot use --${name} "${text}": expected a number from 1 to 99999`)
  return Number(text)
}

function parseRuntime(text: string): BenchOptions['runtime'] {
  if (text === 'containerd' || text === 'docker') return text
  throw new Error(`Cannot measure on "${text}": expected containerd or docker`)
}
