import type { MetricFamily } from '../../base/telemetry/format-metrics.ts'
import { findResource } from '../kinds/all-resources.ts'
import type { RequestInfo } from './request-info.ts'

type Labels = Readonly<Record<string, string>>

// What the metric calls each verb.
const VERB_LABELS: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
}

/** Counts the requests to resources by what they were about, under the names of the Go server. */
export class RequestCounts {
  readonly #counts = new Map<string, { readonly labels: Labels; count: number }>()

  /** Labels are a closed set: what no resource is known by counts for none. */
  count({ group, version, resource, subresource, verb }: RequestInfo, code: number): void {
    const known = findResource(group, version, resource)
    const about = known ? { group, version, resource } : { group: '', version: '', resource: '' }
    const part = known?.subresources.some(({ name }) => name === subresource) ? subresource : ''
    const labels = { ...about, subresource: part, verb: VERB_LABELS[verb] ?? 'other', code: String(code) }
    this.#counts.getOrInsertComputed(JSON.stringify(labels), () => ({ labels, count: 0 })).count += 1
  }

  families(): readonly MetricFamily[] {
    return [
      {
        name: 'apiserver_request_total',
        help: '[STABLE] Requests to resources, by answer.',
        type: 'counter',
        samples: this.#counts
          .values()
          .map(({ labels, count }) => ({ name: 'apiserver_request_total', labels, value: count }))
          .toArray(),
      },
    ]
  }
}
