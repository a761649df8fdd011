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
