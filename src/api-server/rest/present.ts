import type { Resource } from '../kinds/resource.ts'
import type { ApiObject, StoredObject } from '../store/api-object.ts'
import type { OutputForm } from './accept.ts'
import { formatExactJson } from '../../base/document/exact-json.ts'

/** How objects are to be shown. */
export interface Presentation {
  readonly resource: Resource
  readonly form: OutputForm
  /** What rows of a table carry of their object: "None", "Metadata" or "Object". */
  readonly includeObject: string
  readonly now: number
}

const META_VERSION = 'meta.k8s.io/v1'

/** An object in the form asked for, as JSON. The stored text goes out as it is when nothing has to change. */
export function presentText(how: Presentation, stored: Pick<StoredObject, 'text' | 'object'>): string {
  if (how.form === 'object' && how.resource.convert === undefined) return stored.text
  return formatExactJson(presentObject(how, stored.object))
}

/** A stored object in the form asked for. */
export function presentObject(how: Presentation, stored: ApiObject): unknown {
  if (how.form === 'Table') return toTable(how, [stored], { resourceVersion: stored.metadata.resourceVersion })
  if (how.form === 'PartialObjectMetadata') return toPartial(stored)
  return fromStored(how.resource, stored)
}

export function fromStored(resource: Resource, stored: ApiObject): ApiObject {
  return resource.convert?.fromStored(stored) ?? stored
}

/** A list in the form asked for, as JSON. */
export function presentList(how: Presentation, items: readonly StoredObject[], metadata: object): string {
  if (how.form === 'Table') {
    return formatExactJson(
      toTable(
        how,
        items.map(({ object }) => object),
        metadata,
      ),
    )
  }
  const isPartial = how.form === 'PartialObjectMetadata'
  const kind = isPartial ? 'PartialObjectMetadataList' : (how.resource.listKind ?? `${how.resource.kind}List`)
  const apiVersion = isPartial ? META_VERSION : apiVersionOf(how.resource)
  const head = formatExactJson({ kind, apiVersion, metadata })
  return `${head.slice(0, -1)},"items":[${items.map((item) => presentText(how, item)).join(',')}]}`
}

/** What `kubectl get` prints: columns and a row per object. */
export function toTable(
  how: Presentation,
  objects: readonly ApiObject[],
  metadata: object,
  withColumns = true,
): object {
  const { columns, cells, conditions } = how.resource.columns
  return {
    kind: 'Table',
    apiVersion: META_VERSION,
    metadata,
    columnDefinitions: withColumns ? columns : null,
    rows: objects.map((object) => {
      const also = conditions?.(object) ?? []
      return { cells: cells(object, how.now), ...(also.length > 0 && { conditions: also }), ...rowObject(how, object) }
    }),
  }
}

function rowObject(how: Presentation, object: ApiObject): { object?: unknown } {
  if (how.includeObject === 'None') return {}
  return { object: how.includeObject === 'Object' ? fromStored(how.resource, object) : toPartial(object) }
}

/** An object without anything but its metadata. */
export function toPartial({ metadata }: { readonly metadata: object }): object {
  return { kind: 'PartialObjectMetadata', apiVersion: META_VERSION, metadata }
}

export function apiVersionOf({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`
}
