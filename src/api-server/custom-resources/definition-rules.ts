import type { CustomResourceDefinition } from '../../model/generated/api-groups.ts'
import { FieldPath } from '../../model/schema/field-path.ts'
import { ProblemList } from '../../model/schema/validation/problem-list.ts'
import type { Resource, ResourceRules } from '../kinds/resource.ts'
import type { ObjectOf } from '../store/api-object.ts'
import { validateDefinition, validateDefinitionUpdate } from './validate-definition.ts'

type Definition = ObjectOf<CustomResourceDefinition>

/** Definitions of custom resources. What is built in cannot be defined again. */
export function definitionRules(builtIn: () => readonly Resource[]): ResourceRules<Definition> {
  return {
    fillDefaults: (definition) => {
      const { names, conversion } = definition.spec
      return {
        ...definition,
        spec: {
          ...definition.spec,
          names: {
            ...names,
            singular: names.singular || names.kind.toLowerCase(),
            ...(names.kind && { listKind: names.listKind || `${names.kind}List` }),
          },
          conversion: conversion ?? { strategy: 'None' },
        },
      }
    },
    prepareCreate: (definition) => ({
      ...definition,
      status: {
        conditions: [],
        acceptedNames: { plural: '', kind: '' },
        storedVersions: definition.spec.versions
          .filter(({ storage }) => storage)
          .slice(0, 1)
          .map(({ name }) => name),
      },
    }),
    prepareUpdate: (definition) => {
      const { status, spec } = definition
      const stored = status?.storedVersions ?? []
      const added = spec.versions.filter(({ storage, name }) => storage && !stored.includes(name))
      if (status === undefined || added.length === 0) return definition
      return { ...definition, status: { ...status, storedVersions: [...stored, ...added.map(({ name }) => name)] } }
    },
    validate: (definition) => {
      const problems = new ProblemList()
      const { group } = definition.spec
      if (group !== '' && builtIn().some((resource) => resource.group === group)) {
        problems.forbidden(
          FieldPath.root.child('spec').child('group'),
          `the group "${group}" is one of this server itself`,
        )
      }
      return [...validateDefinition(definition), ...problems.violations]
    },
    validateUpdate: validateDefinitionUpdate,
  }
}
