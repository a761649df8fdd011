/** What to do about an image: use the one that is there, pull it, or give up because a pull is not wanted. */
export type PullDecision = 'use' | 'pull' | 'refuse'

/** True when the decision depends on whether the image is on the node; with Always it does not. */
export function needsPresence(policy: string | undefined): boolean {
  return policy !== 'Always'
}

/** Follows the container's pull policy. The decoder of pods fills one in; what is no policy counts as IfNotPresent. */
export function computePullDecision(
  policy: string | undefined,
  image: { readonly present: boolean; /** The pod may use it. */ readonly open: boolean },
): PullDecision {
  if (!needsPresence(policy)) return 'pull'
  if (image.present && image.open) return 'use'
  return policy === 'Never' ? 'refuse' : 'pull'
}
