/** Statements that a Citus cluster needs; on plain PostgreSQL they do nothing. */

/** Distributes the rows of a table over the nodes by one column. */
export function distribute(table: string, column: string): string {
  return onCluster(table, `perform create_distributed_table('${table}', '${column}')`)
}

/** Two nested conditions, because the catalogue of distributed tables exists only where the extension is installed. */
function onCluster(table: string, work: string): string {
  return `do $$ begin
    if exists (select 1 from pg_extension where extname = 'citus') then
      if not exists (select 1 from pg_dist_partition where logicalrelid = '${table}'::regclass) then
        ${work};
      end if;
    end if;
  end $$`
}
