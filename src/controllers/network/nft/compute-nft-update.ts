import { EMPTY_STATE } from './nft-state.ts'
import type { NftSet, NftState } from './nft-state.ts'

export interface NftUpdate {
  /** One transaction: all of it happens or nothing. Empty when there is nothing to do. */
  readonly text: string
  /** Chains that nothing leads to any more. Older kernels still count the last references to them for a moment. */
  readonly unused: readonly string[]
}

/** Replaces the table, whatever it holds; packets see the old one or the new one. Clients lose the targets that they had. */
export function computeNftReplacement(table: string, after: NftState): string {
  const { text } = computeNftUpdate(table, EMPTY_STATE, after)
  return [`add table inet ${table}`, `delete table inet ${table}`, `add table inet ${table}`, text].join('\n')
}

/** Names of what a table holds that an earlier process has made. */
export interface KnownNames {
  readonly sets: readonly string[]
  readonly chains: readonly string[]
}

/** Takes over a table of which only the names are known: all of it is written, and what the kernel has filled stays. */
export function computeNftAdoption(table: string, known: KnownNames, after: NftState): NftUpdate {
  const kept = known.sets.filter((name) => after.sets.has(name))
  const sets = new Map(
    known.sets.map((name): [string, NftSet] => {
      const set = after.sets.get(name)
      const elements = set?.elements === undefined ? undefined : new Map<string, string>()
      return [name, { kind: set?.kind ?? 'set', declaration: set?.declaration ?? '', elements }]
    }),
  )
  const flushed = kept.flatMap((name) => {
    const set = after.sets.get(name)
    return set?.elements === undefined ? [] : [`flush ${set.kind} inet ${table} ${name}`]
  })
  const chains = new Map(known.chains.map((name) => [name, { hook: after.chains.get(name)?.hook ?? '', rules: ['?'] }]))
  const { text, unused } = computeNftUpdate(table, { sets, chains }, after)
  // Chains are emptied first: no rule keeps a set that is to go.
  return { text: [`add table inet ${table}`, ...flushed, text].join('\n'), unused }
}

/** What turns one state of the table into another, in few lines. */
export function computeNftUpdate(table: string, before: NftState, after: NftState): NftUpdate {
  const place = `inet ${table}`
  const declared: string[] = []
  const rules: string[] = []
  const elements: string[] = []
  const removed: string[] = []
  for (const [name, set] of after.sets) {
    const old = before.sets.get(name)
    if (old === undefined) declared.push(`add ${set.kind} ${place} ${name} { ${set.declaration}; }`)
    elements.push(...changedElements(`${place} ${name}`, old?.elements, set.elements))
  }
  for (const [name, { hook, rules: wanted }] of after.chains) {
    const old = before.chains.get(name)
    if (old === undefined) declared.push(`add chain ${place} ${name}${hook === '' ? '' : ` { ${hook} }`}`)
    if (old !== undefined && old.rules.join('\n') === wanted.join('\n')) continue
    // One that is new here may be left over, waiting to go.
    rules.push(`flush chain ${place} ${name}`, ...wanted.map((rule) => `add rule ${place} ${name} ${rule}`))
  }
  const unused = [...before.chains.keys()].filter((name) => !after.chains.has(name))
  removed.push(...unused.map((name) => `flush chain ${place} ${name}`))
  for (const [name, { kind }] of before.sets) if (!after.sets.has(name)) removed.push(`delete ${kind} ${place} ${name}`)
  return { text: [...declared, ...rules, ...elements, ...removed].map((line) => `${line}\n`).join(''), unused }
}

function changedElements(
  place: string,
  before: ReadonlyMap<string, string> = new Map(),
  after: ReadonlyMap<string, string> = new Map(),
): readonly string[] {
  const gone = [...before].filter(([key, value]) => after.get(key) !== value)
  const added = [...after].filter(([key, value]) => before.get(key) !== value)
  return [
    ...(gone.length === 0 ? [] : [`delete element ${place} { ${gone.map(formatElement).join(', ')} }`]),
    ...(added.length === 0 ? [] : [`add element ${place} { ${added.map(formatElement).join(', ')} }`]),
  ]
}

function formatElement([key, value]: readonly [string, string]): string {
  return value === '' ? key : `${key} : ${value}`
}
