import type { ControllerRevision } from '../../../model/generated/api-groups.ts'
import type { PodTemplateSpec } from '../../../model/generated/core-v1.ts'
import { sameValue } from '../../../base/document/same-value.ts'
import type { Live } from '../../engine/live-object.ts'

/** What a revision keeps: a patch that brings a template back. */
export function toRevisionData(template: PodTemplateSpec): object {
  return { spec: { template: { ...template, $patch: 'replace' } } }
}

/** What has to be done so that the newest revision is that of a template. */
export type RevisionSync =
  | { readonly kind: 'present'; readonly revision: Live<ControllerRevision> }
  /** An earlier template is back: its revision becomes the newest. */
  | { readonly kind: 'renumber'; readonly revision: Live<ControllerRevision>; readonly number: number }
  | { readonly kind: 'create'; readonly number: number }

export function computeRevisionSync(
  revisions: readonly Live<ControllerRevision>[],
  template: PodTemplateSpec,
): RevisionSync {
  const newest = Math.max(0, ...revisions.map(({ revision }) => Number(revision)))
  const data = toRevisionData(template)
  const same = revisions
    .filter((each) => sameValue(each.data, data))
    .toSorted((a, b) => Number(b.revision) - Number(a.revision))[0]
  if (same === undefined) return { kind: 'create', number: newest + 1 }
  return Number(same.revision) === newest
    ? { kind: 'present', revision: same }
    : { kind: 'renumber', revision: same, number: newest + 1 }
}

/** The oldest revisions beyond a limit that nothing uses. */
export function computeExpiredRevisions(
  revisions: readonly Live<ControllerRevision>[],
  isUsed: (revision: Live<ControllerRevision>) => boolean,
  limit: number,
): readonly Live<ControllerRevision>[] {
  const unused = revisions.filter((each) => !isUsed(each)).toSorted((a, b) => Number(a.revision) - Number(b.revision))
  return unused.slice(0, Math.max(0, unused.length - limit))
}

/** The template that a revision keeps. */
export function templateOf({ data }: ControllerRevision): PodTemplateSpec {
  const { spec } = (data ?? {}) as {
    readonly spec?: { readonly template?: PodTemplateSpec & { readonly $patch?: string } }
  }
  const { $patch: _, ...template } = spec?.template ?? {}
  return template
}
