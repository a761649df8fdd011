import type { HorizontalPodAutoscaler } from '../../model/generated/api-groups.ts'
import { isRecord } from '../../base/document/is-record.ts'
import { isNotFound } from '../../protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import { objectKey } from './applied-object.ts'
import type { ObjectName } from './applied-object.ts'

const AUTOSCALERS = '/apis/autoscaling/v2/horizontalpodautoscalers'

/** The objects whose number of replicas is an autoscaler's to set, whatever a file says. */
export class ScaledObjects {
  /** By object: the name of its autoscaler. */
  readonly #autoscalers: ReadonlyMap<string, string>

  constructor(autoscalers: readonly HorizontalPodAutoscaler[]) {
    this.#autoscalers = new Map(
      autoscalers.map(({ metadata, spec: { scaleTargetRef } }) => {
        const { apiVersion = '', kind, name } = scaleTargetRef
        return [objectKey({ apiVersion, kind, name, namespace: metadata?.namespace ?? '' }), metadata?.name ?? '']
      }),
    )
  }

  /** The name of the autoscaler of an object, in the same namespace; undefined if it has none. */
  autoscalerOf(object: ObjectName): string | undefined {
    return this.#autoscalers.get(objectKey(object))
  }
}

/** As they are now. Where the API has no autoscalers nothing is scaled. */
export async function readScaledObjects(client: KubeClient, signal: AbortSignal): Promise<ScaledObjects> {
  try {
    const list = await client.send<{ readonly items: readonly HorizontalPodAutoscaler[] }>(
      { method: 'GET', path: AUTOSCALERS },
      signal,
    )
    return new ScaledObjects(list.items)
  } catch (error) {
    if (isNotFound(error)) return new ScaledObjects([])
    throw error
  }
}

/** The object without its number of replicas; the same one if it has none. */
export function withoutReplicas<T extends object>(object: T): T {
  const { spec } = object as { readonly spec?: unknown }
  if (!isRecord(spec) || !('replicas' in spec)) return object
  const { replicas: _, ...others } = spec
  return { ...object, spec: others }
}
