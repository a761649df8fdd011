import { sameValue } from '../../base/document/same-value.ts'
import type { CustomResourceDefinition } from '../../model/generated/api-groups.ts'
import { toApiTime } from '../../model/text/api-time.ts'
import { isChangeOf, removeFinalizer } from '../lifecycle/change-set.ts'
import type { Change, ChangeSet } from '../lifecycle/change-set.ts'
import { deleteObject } from '../lifecycle/delete-object.ts'
import type { ObjectOf, StoreKey } from '../store/api-object.ts'
import { CLEANUP_FINALIZER, computeDefinitionStatus } from './compute-definition-status.ts'
import { DEFINITIONS } from './resource-table.ts'

type Definition = ObjectOf<CustomResourceDefinition>

/** A definition gets its names and is served; a deleted one goes with the last of its objects. */
export function followDefinitions(changes: ChangeSet, change: Change): void {
  if (isChangeOf(change, DEFINITIONS)) return followDefinition(changes, change)
  if (change.after === undefined) finishDefinition(changes, change.key.resource)
}

function followDefinition(changes: ChangeSet, { key, before, after }: Change<typeof DEFINITIONS>): void {
  const group = after?.spec.group ?? before?.spec.group ?? ''
  if (after?.metadata.deletionTimestamp !== undefined && before?.metadata.deletionTimestamp === undefined) {
    deleteInstances(changes, key.name)
  }
  // Names that one of a group gives back may be what another waits for.
  const all = changes.objects.list(DEFINITIONS).filter(({ spec }) => spec.group === group)
  for (const definition of all) writeStatus(changes, definition, all)
}

function writeStatus(changes: ChangeSet, definition: Definition, all: readonly Definition[]): void {
  if (definition.metadata.deletionTimestamp !== undefined) return
  const others = all.filter(({ metadata }) => metadata.uid !== definition.metadata.uid)
  const status = computeDefinitionStatus(definition, others, toApiTime(changes.info.now))
  if (!sameValue(status, definition.status)) changes.put(keyOf(definition.metadata.name), { ...definition, status })
}

function deleteInstances(changes: ChangeSet, name: string): void {
  const resource = changes.info.resources.ofStorage(name)
  if (resource !== undefined) {
    for (const stored of changes.view.list({ resource: name })) deleteObject(changes, resource, stored, {})
  }
  finishDefinition(changes, name)
}

function finishDefinition(changes: ChangeSet, storage: string): void {
  const key = keyOf(storage)
  const definition = changes.objects.get(key)
  if (definition?.metadata.deletionTimestamp === undefined || changes.view.count({ resource: storage }) > 0) return
  removeFinalizer(changes, key, CLEANUP_FINALIZER)
}

function keyOf(name = ''): StoreKey<typeof DEFINITIONS> {
  return { resource: DEFINITIONS, namespace: '', name }
}
