import { controllerOf } from '../../engine/live-object.ts'
import type { LiveMeta } from '../../engine/live-object.ts'

interface Claimable {
  readonly metadata: LiveMeta
}

interface ClaimInput<T extends Claimable> {
  readonly ownerUid: string
  readonly isOwnerDeleting: boolean
  /** Of the owner's namespace: those that it controls, and those that nothing controls. */
  readonly children: readonly T[]
  /** Whether the owner's selector, and what else its kind demands, holds. */
  readonly matches: (child: T) => boolean
}

/** What becomes of the children that an owner could have. */
export interface Claims<T> {
  readonly mine: readonly T[]
  /** Become the owner's. */
  readonly adopt: readonly T[]
  /** Are the owner's, but do not match any longer: they live on without an owner. */
  readonly release: readonly T[]
}

/** Which objects belong to an owner: the reference to the controller decides, the selector only where there is none. */
export function computeClaims<T extends Claimable>(input: ClaimInput<T>): Claims<T> {
  const { ownerUid, isOwnerDeleting, children, matches } = input
  const mine: T[] = []
  const adopt: T[] = []
  const release: T[] = []
  for (const child of children) {
    const controller = controllerOf(child)
    const isMatching = matches(child)
    if (controller?.uid === ownerUid) {
      if (isMatching) mine.push(child)
      else if (!isOwnerDeleting) release.push(child)
    } else if (controller === undefined && isMatching && !isOwnerDeleting) {
      if (child.metadata.deletionTimestamp === undefined) adopt.push(child)
    }
  }
  return { mine, adopt, release }
}
