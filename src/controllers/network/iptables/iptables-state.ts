/** The tables of iptables that we have chains in. */
const TABLES = ['mangle', 'nat', 'filter'] as const
export type IptablesTable = (typeof TABLES)[number]

/** Our chains in the tables of one family, each with its rules; and where the kernel's own chains lead to them. */
export interface IptablesState {
  readonly chains: Readonly<Record<IptablesTable, ReadonlyMap<string, readonly string[]>>>
  readonly jumps: Readonly<Record<IptablesTable, readonly Jump[]>>
}

interface Jump {
  readonly from: string
  readonly to: string
}

/** Gathers chains and jumps to them. */
export class IptablesBuilder implements IptablesState {
  readonly chains = {
    mangle: new Map<string, string[]>(),
    nat: new Map<string, string[]>(),
    filter: new Map<string, string[]>(),
  }
  readonly jumps = { mangle: [] as Jump[], nat: [] as Jump[], filter: [] as Jump[] }

  /** A chain that the kernel comes to from one of its own. */
  hook(table: IptablesTable, from: string, to: string): void {
    this.jumps[table].push({ from, to })
    this.add(table, to)
  }

  /** Adds rules to a chain, which is there from then on. */
  add(table: IptablesTable, chain: string, ...rules: readonly string[]): void {
    const present = this.chains[table].get(chain) ?? []
    present.push(...rules)
    this.chains[table].set(chain, present)
  }
}

/**
 * The input for iptables-restore, without flushing: each table is replaced as a whole, as far as it is ours. What an earlier state had and this
 * one has not is removed; jumps are made where they are missing, before the rules of others.
 */
export function formatIptablesInput({ chains, jumps }: IptablesState, prefix: string, saved: string): string {
  const present = parseSaved(saved, prefix)
  return TABLES.flatMap((table) => {
    const old = present[table].chains.filter((name) => !chains[table].has(name))
    const own = [...chains[table]]
    const missing = jumps[table].filter((jump) => !present[table].rules.has(formatJump('-A', jump)))
    const wanted = new Set(jumps[table].map((jump) => formatJump('-A', jump)))
    const left = [...present[table].rules].filter((rule) => isJump(rule, prefix) && !wanted.has(rule))
    return [
      `*${table}`,
      ...[...own.map(([name]) => name), ...old].map((name) => `:${name} - [0:0]`),
      ...own.flatMap(([name, rules]) => rules.map((rule) => `-A ${name} ${rule}`)),
      ...missing.map((jump) => formatJump('-I', jump)),
      ...left.map((rule) => rule.replace('-A', '-D')),
      ...old.map((name) => `-X ${name}`),
      'COMMIT',
    ]
  })
    .map((line) => `${line}\n`)
    .join('')
}

/** Whether the kernel still comes to our chains, as iptables-save shows it. */
export function hasAllJumps({ jumps }: IptablesState, prefix: string, saved: string): boolean {
  const present = parseSaved(saved, prefix)
  return TABLES.every((table) => jumps[table].every((jump) => present[table].rules.has(formatJump('-A', jump))))
}

/** Whether there is anything of ours. */
export function hasOwnChains(prefix: string, saved: string): boolean {
  const present = parseSaved(saved, prefix)
  return TABLES.some((table) => present[table].chains.length > 0)
}

function formatJump(verb: '-A' | '-I', { from, to }: Jump): string {
  return `${verb} ${from} -j ${to}`
}

function isJump(rule: string, prefix: string): boolean {
  return rule.includes(` -j ${prefix}-`) && !rule.startsWith(`-A ${prefix}-`)
}

/** Our chains of each table, and all of its rules. */
function parseSaved(text: string, prefix: string) {
  const found = {
    mangle: { chains: [] as string[], rules: new Set<string>() },
    nat: { chains: [] as string[], rules: new Set<string>() },
    filter: { chains: [] as string[], rules: new Set<string>() },
  }
  let table: IptablesTable | undefined
  for (const line of text.split('\n')) {
    if (line.startsWith('*')) table = TABLES.find((name) => line === `*${name}`)
    else if (table === undefined) continue
    else if (line.startsWith(`:${prefix}-`)) found[table].chains.push(line.slice(1).split(' ')[0] ?? '')
    else if (line.startsWith('-A ')) found[table].rules.add(line.trim())
  }
  return found
}
