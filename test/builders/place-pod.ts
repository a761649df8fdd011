import type { Pod } from '../../src/model/pod/pod.ts'
import { createPlacement } from '../../src/node/placement/create-placement.ts'
import type { HintProvider, PlacementRejection } from '../../src/node/placement/hint-provider.ts'
import type { PlacementPolicy } from '../../src/node/placement/placement-policy.ts'
import { FakeClock } from '../fakes/fake-clock.ts'

/** Gives a pod what it needs, from anywhere or as the policy says; the reason when it cannot. */
export function placePod(
  provider: HintProvider | readonly HintProvider[],
  pod: Pod,
  policy?: PlacementPolicy,
): PlacementRejection | undefined {
  return createPlacement({
    policy,
    providers: [provider].flat(),
    metrics: { podPlaced: () => {}, placementAligned: () => {} },
    clock: new FakeClock(),
  }).admit(pod)
}
