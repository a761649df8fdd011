import type { OwnerReference, Pod, PodTemplateSpec } from '../../../model/generated/core-v1.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { KubeObject } from '../../../protocols/kube-api/list-watch/kube-object.ts'
import { isNamespaceEnding } from '../../engine/api-objects.ts'
import type { ApiObjects } from '../../engine/api-objects.ts'
import type { RecordEvent } from '../../engine/object-events.ts'
import type { Live } from '../../engine/live-object.ts'

/** Creates and deletes the pods of a controller, and says so in events about their owner. */
export class PodControl {
  readonly #pods: ApiObjects<Pod>
  readonly #record: RecordEvent

  constructor(pods: ApiObjects<Pod>, record: RecordEvent) {
    this.#pods = pods
    this.#record = record
  }

  async create(owner: Live<KubeObject>, pod: Pod, signal: AbortSignal): Promise<Live<Pod>> {
    try {
      const created = await this.#pods.create(owner.metadata.namespace, pod, signal)
      this.#record(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`)
      return created
    } catch (error) {
      if (!signal.aborted && !isNamespaceEnding(error))
        this.#record(owner, 'Warning', 'FailedCreate', `Error creating: ${errorMessage(error)}`)
      throw error
    }
  }

  async remove(owner: Live<KubeObject>, pod: Live<Pod>, signal: AbortSignal): Promise<void> {
    try {
      await this.#pods.remove(pod, {}, signal)
      this.#record(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`)
    } catch (error) {
      if (!signal.aborted) this.#record(owner, 'Warning', 'FailedDelete', `Error deleting: ${errorMessage(error)}`)
      throw error
    }
  }
}

/** A pod of a template, to be named by the API. */
export function toPod(ownerName: string, reference: OwnerReference, template: PodTemplateSpec): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {}
  return {
    metadata: {
      generateName: `${ownerName}-`,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ownerReferences: [reference],
    },
    spec: template.spec,
  }
}
