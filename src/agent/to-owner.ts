import type { Node } from '../model/generated/core-v1.ts'

/** Who owns mirror pods; nobody while the Node object is not there or leaves. */
export function toOwner(node: Node | undefined): { readonly name: string; readonly uid: string } | undefined {
  const { name, uid, deletionTimestamp } = node?.metadata ?? {}
  return name === undefined || uid === undefined || deletionTimestamp !== undefined ? undefined : { name, uid }
}
