/** One file that a volume shows. */
export interface PayloadFile {
  readonly content: Uint8Array
  readonly mode: number
  /** Undefined: the agent's own user. */
  readonly owner?: number | undefined
}

/** What a volume shows: files by their path in it. */
export type Payload = ReadonlyMap<string, PayloadFile>

/** The same by directories, one name at a time. */
export type PayloadTree = ReadonlyMap<string, PayloadFile | PayloadTree>

export function isPayloadTree(node: PayloadFile | PayloadTree): node is PayloadTree {
  return node instanceof Map
}
