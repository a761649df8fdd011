import type { NodeSample, PodUse } from '../messages/page-message.ts'
import type { Sample } from '../messages/compute-sample.ts'

const LASTS_MS = 3_600_000
/** What a sparkline shows. */
const POD_POINTS = 30

/** What the node used in the last hour, and each pod in the last minutes. */
export class StatsHistory {
  #node: NodeSample[] = []
  #pods = new Map<string, readonly PodUse[]>()

  add({ node, pods }: Sample): void {
    this.#node = [...this.#node.filter(({ at }) => at > node.at - LASTS_MS), node]
    // Pods that are gone go with it.
    this.#pods = new Map(
      Object.entries(pods).map(([uid, use]) => [uid, [...(this.#pods.get(uid) ?? []).slice(1 - POD_POINTS), use]]),
    )
  }

  get node(): readonly NodeSample[] {
    return this.#node
  }

  get pods(): Readonly<Record<string, readonly PodUse[]>> {
    return Object.fromEntries(this.#pods)
  }
}
