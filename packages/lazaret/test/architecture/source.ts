import ts from 'typescript';

/** A source file as the rules see it. `path` counts from the root of the repository, with slashes. */
export interface Source {
  readonly path: string;
  readonly tree: ts.SourceFile;
  readonly imports: readonly Import[];
}

export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** Erased when compiled: the import exists for the type checker alone. */
  readonly typeOnly: boolean;
  /** Loaded when the line runs, not when the file loads. */
  readonly onDemand: boolean;
}

/** One place where a source breaks a rule. */
export interface Breach<Rule extends string = string> {
  readonly rule: Rule;
  readonly path: string;
  readonly line: number;
  readonly what: string;
}

export function parse(path: string, text: string): Source {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return { path, tree, imports: importsOf(tree) };
}

export function lineOf(node: ts.Node): number {
  const tree = node.getSourceFile();
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
}

function importsOf(tree: ts.SourceFile): readonly Import[] {
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, typeOnly: boolean, onDemand: boolean) => {
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) {
      found.push({ specifier: specifier.text, line: lineOf(specifier), typeOnly, onDemand });
    }
  };
  const visit = (node: ts.Node): void => {
    // n.b. `import { type A }` stays an import when compiled (verbatimModuleSyntax); only `import type` vanishes.
    if (ts.isImportDeclaration(node)) {
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword, false);
    } else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly, false);
    else if (ts.isImportTypeNode(node))
      add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true, false);
    else if (ts.isCallExpression(node) && loadsModule(node.expression)) add(node.arguments[0], false, true);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** `import(…)`, `require(…)`, `process.getBuiltinModule(…)`. */
function loadsModule(callee: ts.Expression): boolean {
  if (callee.kind === ts.SyntaxKind.ImportKeyword) return true;
  if (ts.isIdentifier(callee)) return callee.text === 'require';
  return ts.isPropertyAccessExpression(callee) && callee.name.text === 'getBuiltinModule';
}
