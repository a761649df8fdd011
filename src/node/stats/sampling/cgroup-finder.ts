import type { CgroupReader } from '../../../system/cgroups/cgroup-reader.ts'
import { podCgroupPaths } from '../../../model/resources/cgroup-names.ts'
import type { CgroupLayout } from '../../../model/resources/cgroup-names.ts'
import type { PodUid } from '../../../model/pod/pod.ts'

/** Knows which cgroups belong to a pod and its parts. The runtime names those of containers, inside that of their pod, after their ids. */
export class CgroupFinder {
  readonly #cgroups: CgroupReader
  readonly #layout: CgroupLayout
  readonly #pods = new Map<PodUid, string>()
  readonly #parts = new Map<string, string>()

  constructor(cgroups: CgroupReader, layout: CgroupLayout) {
    this.#cgroups = cgroups
    this.#layout = layout
  }

  /** Undefined when pods have none here, or it is not there yet. */
  ofPod(uid: PodUid): string | undefined {
    if (!this.#layout.perQos) return undefined
    const known = this.#pods.get(uid)
    if (known !== undefined && this.#cgroups.exists(known)) return known
    const found = podCgroupPaths(uid, this.#layout).find((path) => this.#cgroups.exists(path))
    if (found === undefined) this.#pods.delete(uid)
    else this.#pods.set(uid, found)
    return found
  }

  /** That of a container or sandbox. */
  ofPart(podCgroup: string, id: string): string | undefined {
    const known = this.#parts.get(id)
    if (known !== undefined) return known
    // Some runtimes have a second one for their own process, which is named after the container too.
    const names = this.#cgroups.children(podCgroup).filter((name) => name.includes(id))
    const name = names.find((candidate) => !candidate.includes('conmon'))
    if (name === undefined) return undefined
    this.#parts.set(id, `${podCgroup}/${name}`)
    return `${podCgroup}/${name}`
  }

  /** Forgets all that is no longer there. */
  keep(uids: ReadonlySet<PodUid>, ids: ReadonlySet<string>): void {
    for (const uid of this.#pods.keys()) if (!uids.has(uid)) this.#pods.delete(uid)
    for (const id of this.#parts.keys()) if (!ids.has(id)) this.#parts.delete(id)
  }

  get size(): number {
    return this.#pods.size + this.#parts.size
  }
}
