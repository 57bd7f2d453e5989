"""A valid project with everything in it."""

PROJECT = """<?xml version="1.0" encoding="UTF-8"?>
<Application name="my_app" processCount="2" version="1">
  <Description>text</Description>
  <FileList>
    <File name="/home/u/test.out">
      <InitialSize from="1">16777216</InitialSize>
      <Distribution class="Stripe" implementation="Stripe"><ChunkSize>64K</ChunkSize></Distribution>
      <ChunkSize>64K</ChunkSize>
      <Rank global="0" thread="0" fid="0"/>
    </File>
  </FileList>
  <Topology>
    <Level name="Hostname" type="Hostname"><Level name="Rank" type="Rank"><Level name="Thread" type="Thread"/></Level></Level>
    <Node name="node01"><Node name="0"><Node name="0"/></Node><Node name="1"><Node name="0"/></Node></Node>
    <Label value="node01"><Label value="0"><Label value="0"/></Label><Label value="1"><Label value="0"/></Label></Label>
  </Topology>
  <CommunicatorList>
    <Communicator name="WORLD" uid="W"><Rank global="0" local="0" cid="0"/><Rank global="1" local="1"/></Communicator>
    <Communicator name="inter"><Rank global="0" local="0" cid="0" group="0"/></Communicator>
  </CommunicatorList>
  <WindowList>
    <Window name="box" uid="W/w3" communicator="W">
      <Rank global="0" local="0" wid="2" size="800" dispUnit="8"/>
      <Rank global="1" local="1"/>
    </Window>
    <Window name=""><Rank global="0" local="0" wid="3" size="0" dispUnit="1"/></Window>
  </WindowList>
  <Datatypes>
    <Rank name="0" thread="0">
      <NAMED id="0" name="MPI_INT" size="4" lb="0" extent="4"/>
      <DUP id="1" name="" oldType="0" size="4" lb="0" extent="4"/>
      <CONTIGUOUS id="2" name="" count="3" oldType="0"/>
      <VECTOR id="3" name="" count="3" blocklength="1" stride="2" oldType="0"/>
      <HVECTOR id="4" name="" count="3" blocklength="1" stride="-2" oldType="0"/>
      <HVECTOR_INTEGER id="5" name="" count="3" blocklength="1" stride="2" oldType="0"/>
      <RESIZED id="6" name="" lowerBound="-1" extend="8" extent="8" oldType="0" size="4" lb="-1"/>
      <INDEXED id="7" name="" count="1" oldType="0"><BLOCK len="1" index="2"/></INDEXED>
      <HINDEXED id="8" name="" count="2" oldType="0"><BLOCK len="1" index="2"/><BLOCK len="1" index="2"/></HINDEXED>
      <HINDEXED_INTEGER id="9" name="" count="1" oldType="0"><BLOCK len="1" index="2"/></HINDEXED_INTEGER>
      <INDEXED_BLOCK id="10" name="" count="1" oldType="0" blockLength="3"><Block displacement="4"/></INDEXED_BLOCK>
      <HINDEXED_BLOCK id="11" name="" count="1" oldType="0" blockLength="3"><Block displacement="4"/></HINDEXED_BLOCK>
      <STRUCT id="12" name="" count="1"><Type id="0" displacement="0" blocklen="1"/></STRUCT>
      <STRUCT_INTEGER id="13" name="" count="1"><Type id="0" displacement="0" blocklen="1"/></STRUCT_INTEGER>
      <SUBARRAY id="14" name="" count="1" order="MPI_ORDER_C" ndims="1" oldType="0"><Dimension size="4" subsize="2" start="1"/></SUBARRAY>
      <DARRAY id="15" name="" size="4" order="MPI_ORDER_FORTRAN" rank="1" dims="1" ndims="1" oldType="0"
        ><Dimension gsize="4" distrib="MPI_DISTRIBUTE_BLOCK" darg="MPI_DISTRIBUTE_DFLT_DARG" psize="1"/></DARRAY>
      <F90_REAL id="16" name="" precision="3" range="4"/>
      <F90_COMPLEX id="17" name="" precision="3" range="4"/>
      <F90_INTEGER id="18" name="" range="4"/>
      <VALUE_INDEX id="19" name="" size="4" lb="0" extent="4"
        ><Integer value="7"/><Integer value="MPI_ORDER_C"/><Address value="-8"/><Type id="0"/><Type id="1"/></VALUE_INDEX>
    </Rank>
    <Rank name="1" thread="0">
      <CONTIGUOUS id="0" name="contents unknown" size="4" lb="0" extent="4"/>
      <DARRAY id="1" name="" size="4" lb="0" extent="4"/>
      <DUP id="2" name="" size="4" lb="0" extent="4"/>
      <F90_INTEGER id="3" name="" size="4" lb="0" extent="4"/>
      <F90_REAL id="4" name="" size="4" lb="0" extent="4"/>
      <INDEXED id="5" name="" size="4" lb="0" extent="4"/>
      <INDEXED_BLOCK id="6" name="" size="4" lb="0" extent="4"/>
      <RESIZED id="7" name="" size="4" lb="0" extent="4"/>
      <STRUCT id="8" name="" size="4" lb="0" extent="4"/>
      <SUBARRAY id="9" name="" size="4" lb="0" extent="4"/>
      <VECTOR id="10" name="" size="4" lb="0" extent="4"/>
      <UNKNOWN id="11" name=""/>
    </Rank>
  </Datatypes>
</Application>
"""
