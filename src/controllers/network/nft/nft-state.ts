/** A set or map of nftables. */
export interface NftSet {
  readonly kind: 'set' | 'map'
  readonly declaration: string
  /** Key to value; the value of a set's element is empty. Undefined: the kernel fills it. */
  readonly elements: ReadonlyMap<string, string> | undefined
}

export interface NftChain {
  /** Where the kernel calls it; empty for one that others call. */
  readonly hook: string
  readonly rules: readonly string[]
}

/** What a table holds, or is to hold. */
export interface NftState {
  readonly sets: ReadonlyMap<string, NftSet>
  readonly chains: ReadonlyMap<string, NftChain>
}

export const EMPTY_STATE: NftState = { sets: new Map(), chains: new Map() }

/** Gathers sets and chains; of two entries for one key the first one counts. */
export class NftTableBuilder {
  readonly sets = new Map<string, NftSet & { readonly elements: Map<string, string> | undefined }>()
  readonly chains = new Map<string, NftChain>()

  declare(name: string, kind: 'set' | 'map', declaration: string, isFilledByKernel = false): void {
    this.sets.set(name, { kind, declaration, elements: isFilledByKernel ? undefined : new Map() })
  }

  put(set: string, key: string, value: string): void {
    const { elements } = this.sets.get(set) ?? {}
    if (elements?.has(key) === false) elements.set(key, value)
  }

  chain(name: string, rules: readonly string[], hook = ''): void {
    this.chains.set(name, { hook, rules })
  }
}

/** A chain that the kernel calls at one of its hooks; what it says nothing about goes on. */
export function formatHook(type: string, at: string, priority: number): string {
  return `type ${type} hook ${at} priority ${priority}; policy accept;`
}
